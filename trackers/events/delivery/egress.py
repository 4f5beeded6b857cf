"""Which addresses may be called: public ones, and those of EGRESS_ALLOW.

callback ─> fault_of ─> name ─> Resolver: every address that it has ─> open_socket: the one called
A name may resolve to another address each time. So connections go to the very addresses that were
checked, and the last check is at the socket, which also sees an address given in the callback
itself.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import certifi
from aiohttp.abc import AbstractResolver, ResolveResult

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

# The most look-ups in progress. A name is looked up only once at a time.
_MOST_LOOKUPS = 256
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class RefusedError(Exception):
    """The address may not be called, so nothing was sent; the text says why."""


@dataclass(frozen=True, slots=True)
class Egress:
    allowed: tuple[Network, ...] = ()  # networks that may be called although they are not public
    plain_http: bool = False  # http is accepted too
    ca_file: str = ""  # certificates (PEM) to trust besides the public ones


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


@lru_cache(maxsize=4)
def trusting(ca_file: str) -> ssl.SSLContext:
    """A TLS context that trusts the public authorities and those in the file; cached."""
    context = ssl.create_default_context(cafile=certifi.where())
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def open_socket(
    address: tuple[Any, ...], *, allowed: tuple[Network, ...], backlog: Any = None
) -> socket.socket:
    """A socket for the address to connect to; RefusedError when it may not be called."""
    family, kind, protocol, _, (host, *_) = address
    if why := refusal(ip_address(host), allowed):
        raise RefusedError(f"{why}.")
    return socket.socket(family, kind, protocol)


class Resolver(AbstractResolver):
    """Looks up the name for each connection, and refuses it if any of its addresses is refused.

    In threads of its own: a silent name server blocks a thread for half a minute, which must delay
    neither other names nor the end of the process.
    """

    def __init__(self, allowed: tuple[Network, ...]) -> None:
        self._allowed = allowed
        self._asked: dict[str, asyncio.Future[list[Any]]] = {}
        self._free = asyncio.Semaphore(_MOST_LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._look_up(host)
        for *_, (address, *_rest) in addresses:
            if why := refusal(ip_address(address), self._allowed):
                raise RefusedError(f"Its name resolves to an address that is not allowed: {why}.")
        return [
            ResolveResult(
                hostname=host, host=to[0], port=port, family=family, proto=protocol, flags=_NUMERIC
            )
            for family, _, protocol, _, to in addresses
        ]

    async def _look_up(self, host: str) -> list[Any]:
        if host not in self._asked:
            async with self._free:
                if host not in self._asked:
                    self._ask(host)
        # Others may wait for the same answer.
        return await asyncio.shield(self._asked[host])

    def _ask(self, host: str) -> None:
        asked = self._asked[host] = _in_thread(
            partial(
                socket.getaddrinfo, host, 0, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
            )
        )

        def drop_answer(done: asyncio.Future[list[Any]]) -> None:
            del self._asked[host]
            # The callers may be gone; asyncio would log an exception that nobody retrieves.
            done.cancelled() or done.exception()

        asked.add_done_callback(drop_answer)

    async def close(self) -> None:
        """Nothing to do: the threads end by themselves, or with the process."""


def _in_thread(act: Callable[[], list[Any]]) -> asyncio.Future[list[Any]]:
    """Run `act` in a daemon thread, which does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[Any]] = loop.create_future()

    def end(result: list[Any] | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result or [])

    def run() -> None:
        result, error = None, None
        try:
            result = act()
        except (OSError, UnicodeError) as failure:
            error = failure if isinstance(failure, OSError) else OSError(str(failure))
        # The loop may have ended meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(end, result, error)

    threading.Thread(target=run, name="look-up", daemon=True).start()
    return future
