"""Calls go to addresses that may be called (`addresses`), and to no others.

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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import Any

import certifi
from aiohttp.abc import AbstractResolver, ResolveResult

from trackers.events.delivery.addresses import Network, RefusedError, refusal

# The most look-ups in progress. A name is looked up only once at a time.
_MOST_LOOKUPS = 256
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


@dataclass(frozen=True, slots=True)
class Egress:
    allowed: tuple[Network, ...] = ()  # networks that may be called although they are not public
    plain_http: bool = False  # http is accepted too
    ca_file: str = ""  # certificates (PEM) to trust besides the public ones


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
