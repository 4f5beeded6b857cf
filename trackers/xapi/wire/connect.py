"""Connections that know whether X may have received a request, or cannot have.

name ─> TCP ─> a proxy's tunnel ─> TLS ─> the head of the request ─┬─> its reply
                   NotTaken: nothing was sent or billed    └── from here on X may have read it
"""

from __future__ import annotations

import re
import ssl
import time
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from trackers.xapi.errors import Unavailable, XError
from trackers.xapi.wire.deadline import DeadlineResponse
from tweetwatch.servers import Proxy

# OpenSSL's codes: no known authority signed the certificate or its chain.
_UNKNOWN_AUTHORITY = {18, 19, 20, 21}
# http.client gives a proxy's refusal only as text.
_TUNNEL_STATUS = re.compile(r"^Tunnel connection failed: (\d{3})")


class NotTaken(Unavailable):
    """X did not get the whole request: it was not asked, and bills nothing.

    `was_kept`: the connection had brought a reply before; a new one may work.
    """

    def __init__(self, reason: str, *, was_kept: bool = False) -> None:
        super().__init__(reason, sent=False)
        self.was_kept = was_kept


class Connecting(HTTPConnection):
    """Raises NotTaken for anything that goes wrong before the request's head is written."""

    # When the exchange has to be over; nothing is sent after that. And when it was last used. Both
    # by time.monotonic().
    ends = idle_since = float("inf")
    # Quoted path and query of the next request.
    target = "/"
    _is_head_out = True
    _is_kept = _is_named = False

    def connect(self) -> None:
        began = time.monotonic()
        self._is_kept = False
        try:
            super().connect()
        except XError:
            raise
        except Exception as error:
            failure = NotTaken(
                _describe_failure(error, self.first, seconds=time.monotonic() - began)
            )
        else:
            if time.monotonic() < self.ends:
                return
            failure = NotTaken(_without_answer("connection", "X", time.monotonic() - began))
        # Outside the handlers, so that it does not carry the libraries' errors along.
        raise failure

    @property
    def first(self) -> str:
        """The host to connect to first."""
        return f"the proxy {_proxy_of(self)}" if self.proxy else "X"

    def set_tunnel(self, host: str, *args: Any, **options: Any) -> None:
        self._is_named = bool(options.get("headers"))
        super().set_tunnel(host, *args, **options)

    def _tunnel(self) -> None:
        began, to = time.monotonic(), self._tunnel_host or "X"
        try:
            super()._tunnel()
        except Exception as error:
            seconds = time.monotonic() - began
            why = _describe_tunnel(error, to=to, is_named=self._is_named, seconds=seconds)
        else:
            return
        raise NotTaken(f"The proxy {_proxy_of(self)} {why}")

    def request(self, method: str, url: str, *args: Any, **options: Any) -> None:
        """Asks for `target`, whatever the pool was given: urllib3 would quote the quoted URL again,
        character by character, which takes a quarter of a millisecond for a hundred ids."""
        self._is_head_out = False
        super().request(method, self.target, *args, **options)

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        if self._is_head_out:
            super().send(data)
            return
        try:
            super().send(data)
        except OSError:
            why = "The connection to X broke off before the request was sent."
            failure = NotTaken(why, was_kept=self._is_kept)
        else:
            self._is_head_out = self._is_kept = True
            return
        raise failure


class StreamConnection(Connecting):
    """For a reply that never ends, such as a stream's."""


class SecureConnection(Connecting, HTTPSConnection):
    """The same over TLS."""


class DeadlineConnection(Connecting):
    response_class = DeadlineResponse


class DeadlineSecureConnection(SecureConnection):
    response_class = DeadlineResponse


def _describe_failure(error: Exception, first: str, *, seconds: float) -> str:
    """Why there is no connection. The libraries' own texts name objects and addresses."""
    if isinstance(error, NewConnectionError):
        why = getattr(error.__cause__, "strerror", None)
        return f"No connection to {first}: {why}." if why else f"No connection to {first}."
    if isinstance(error, ConnectTimeoutError):
        return _without_answer("connection", first, seconds)
    if isinstance(error, TimeoutError):
        return _without_answer("secure connection", "X", seconds)
    if isinstance(error, ssl.SSLCertVerificationError):
        return _describe_certificate(error)
    if isinstance(error, ssl.SSLError):
        return "No secure connection to X: the TLS handshake failed."
    return f"No connection to X ({type(error).__name__})."


def _without_answer(what: str, to: str, seconds: float) -> str:
    return f"No {what} to {to} within {seconds:.1f} s."


def _describe_certificate(error: ssl.SSLCertVerificationError) -> str:
    sentence = f"No secure connection to X: {error.verify_message}."
    if error.verify_code not in _UNKNOWN_AUTHORITY:
        return sentence
    return f"{sentence} If a proxy opens TLS on the way, set X_CA_FILE to its certificate."


def _describe_tunnel(error: Exception, *, to: str, is_named: bool, seconds: float) -> str:
    """What a proxy did instead of opening the tunnel. Its own words and pages are not shown."""
    if isinstance(error, TimeoutError):
        return f"did not answer within {seconds:.1f} s."
    status_line = _TUNNEL_STATUS.search(str(error))
    if status_line is None:
        return f"did not answer like a proxy ({type(error).__name__})."
    status = int(status_line[1])
    if status == 407 and is_named:
        return "rejects the name and password in X_PROXY (407)."
    if status == 407:
        return "asks for a name and a password, and X_PROXY has none (407)."
    return f"{'could not reach' if status >= 500 else 'refuses to connect to'} {to} ({status})."


def _proxy_of(connection: HTTPConnection) -> Proxy:
    address = connection.proxy
    assert address is not None
    return Proxy(address.host or "", address.port or 80)
