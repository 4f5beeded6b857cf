"""The network between this machine and X: a proxy, and private certificate authorities.

Like name servers it belongs to the process, the same for everything that asks X; so it is set once
(`trackers.apps`) and not passed from call to call.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, replace
from functools import lru_cache

import certifi
from urllib3.util import create_urllib3_context

from trackers.xapi.errors import Unavailable
from tweetwatch.proxy import Proxy, is_loopback


@dataclass(frozen=True, slots=True)
class Route:
    proxy: Proxy | None = None  # None to connect directly
    ca_file: str = ""  # PEM certificates trusted besides the usual

    def taken_to(self, host: str) -> Route:
        """The route to this host: a host on this machine needs no proxy."""
        return replace(self, proxy=None) if is_loopback(host) else self

    def __str__(self) -> str:
        parts = []
        if self.proxy is not None:
            who = f" as {self.proxy.user}" if self.proxy.user else ""
            parts.append(f"through the proxy {self.proxy}{who}")
        if self.ca_file:
            parts.append(f"trusting also {self.ca_file}")
        return ", ".join(parts)


class CurrentRoute:
    way = Route()


def use(way: Route) -> None:
    """Ask X by this route from now on; open connections stay as they are."""
    CurrentRoute.way = way


def current_route() -> Route:
    return CurrentRoute.way


@lru_cache(maxsize=4)
def trusting(ca_file: str) -> ssl.SSLContext:
    """TLS that trusts the public authorities and those in the file; read once per process."""
    context = create_urllib3_context()
    context.load_verify_locations(certifi.where())
    if ca_file:
        _load(context, ca_file)
    return context


def _load(context: ssl.SSLContext, ca_file: str) -> None:
    try:
        context.load_verify_locations(ca_file)
    except OSError:
        failure = Unavailable(f"X_CA_FILE ({ca_file}) cannot be read any more.", sent=False)
    else:
        return
    raise failure
