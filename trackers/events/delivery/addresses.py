"""Which addresses may be called: public ones, and those of EGRESS_ALLOW. Pure.

Light, since pages import it: what makes calls (`egress`, `channels.by_apprise`) imports an HTTP
client.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# IANA's registries of special-purpose addresses, and addresses that embed another one. `is_global`
# in Python 3.11 counts several of these as public.
_NOT_PUBLIC: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "of a carrier's own network"),
        ("127.0.0.0/8", "this machine"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "for measurements"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "this machine"),
        ("::1/128", "this machine"),
        ("::ffff:0:0/96", "an IPv4 address within an IPv6 one"),
        ("::ffff:0:0:0/96", "an IPv4 address within an IPv6 one"),
        ("::/96", "an IPv4 address within an IPv6 one"),
        ("64:ff9b::/96", "an IPv4 address behind NAT64"),
        ("64:ff9b:1::/48", "an IPv4 address behind NAT64"),
        ("2001::/32", "an IPv4 address behind Teredo"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "an IPv4 address behind 6to4"),
        ("2620:4f:8000::/48", "reserved"),
        ("3ffe::/16", "reserved"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
# All public IPv6 addresses are in here; others are unassigned, or have another meaning.
_PUBLIC_V6 = IPv6Network("2000::/3")


class RefusedError(Exception):
    """The address may not be called, so nothing was sent; the text says why."""


def refusal(address: Address, allowed: Iterable[Network] = ()) -> str:
    """Why this address may not be called; empty when it may."""
    if any(address in network for network in allowed):
        return ""
    for network, what in _NOT_PUBLIC:
        if address in network:
            return f"{address} is not a public address, but {what}; EGRESS_ALLOW does not list it"
    if isinstance(address, IPv6Address) and (address not in _PUBLIC_V6 or address.scope_id):
        return f"{address} is not a public address, but reserved"
    return ""


def fault_of(callback: str, *, plain_http: bool) -> str:
    """What is wrong with a callback, without looking up its name; empty when nothing is."""
    try:
        parts = urlsplit(callback)
        nameless = not parts.hostname or parts.port == 0
    except ValueError:
        return "It is not an address."
    if parts.scheme != "https" and not (plain_http and parts.scheme == "http"):
        return "Its address does not start with https://, and EGRESS_PLAIN_HTTP is not set."
    if nameless:
        return "Its address names no host, or no port."
    if "@" in parts.netloc:
        return "Its address has a user name or a password."
    return ""
