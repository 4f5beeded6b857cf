"""Kept-alive connections to one address, for one thread.

A middlebox (NAT, a firewall, a proxy) forgets a connection that was idle for some minutes. The
next request on it is lost, and nobody knows that X never saw it. So a connection that was idle for
a minute is not used again, and the kernel sends keep-alive probes meanwhile.
"""

from __future__ import annotations

import socket
import ssl
import time
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

import certifi
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util import Url, create_urllib3_context

from trackers.xapi.errors import Unavailable
from trackers.xapi.wire.connect import (
    Connecting,
    DeadlineConnection,
    DeadlineSecureConnection,
    SecureConnection,
    StreamConnection,
)
from trackers.xapi.wire.network import current_route

if TYPE_CHECKING:
    from urllib3._base_connection import BaseHTTPConnection

LONGEST_IDLE_SECONDS = 60.0
# Probed after 20 s of silence, given up 30 s later. Not every platform has all of these.
_KEEP_ALIVE = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]


class Pool(HTTPConnectionPool):
    """For the next exchange: `ends`, its deadline by time.monotonic(), and `target`, what it asks
    for."""

    ConnectionCls: type[Connecting] = StreamConnection
    ends = float("inf")
    target = "/"

    def _get_conn(self, timeout: float | None = None) -> Connecting:
        connection = super()._get_conn(timeout)
        assert isinstance(connection, Connecting)
        if time.monotonic() - connection.idle_since >= LONGEST_IDLE_SECONDS:
            connection.close()
        connection.ends, connection.target = self.ends, self.target
        return connection

    def _put_conn(self, connection: BaseHTTPConnection | None) -> None:
        if isinstance(connection, Connecting):
            connection.idle_since = time.monotonic()
        super()._put_conn(connection)


class SecurePool(Pool, HTTPSConnectionPool):
    ConnectionCls = SecureConnection


class DeadlinePool(Pool):
    ConnectionCls = DeadlineConnection


class DeadlineSecurePool(SecurePool):
    ConnectionCls = DeadlineSecureConnection


def connections_to(base: SplitResult) -> Pool:
    """Connections to the host of an http or https address."""
    return _pool_to(base, DeadlinePool, DeadlineSecurePool)


def endless_connections_to(base: SplitResult) -> Pool:
    """The same without a deadline for the whole reply: a stream never ends."""
    return _pool_to(base, Pool, SecurePool)


def _pool_to(base: SplitResult, plain: type[Pool], secure: type[SecurePool]) -> Pool:
    host = base.hostname or ""
    if base.scheme != "https":
        return plain(host, base.port, maxsize=1, socket_options=_KEEP_ALIVE)
    way = current_route().taken_to(host)
    proxy = way.proxy
    return secure(
        host,
        base.port or 443,
        maxsize=1,
        socket_options=_KEEP_ALIVE,
        cert_reqs="CERT_REQUIRED",
        ssl_context=_trusting(way.ca_file),
        _proxy=Url(scheme="http", host=proxy.host, port=proxy.port) if proxy else None,
        _proxy_headers=proxy.headers() if proxy else None,
    )


@lru_cache(maxsize=4)
def _trusting(ca_file: str) -> ssl.SSLContext:
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
