"""The network between this machine and X: a proxy, and private certificate authorities.

Like name servers it belongs to the process, the same for everything that asks X; so it is set once
(`trackers.apps`) and not passed from call to call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tweetwatch.servers import Proxy, is_loopback


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
