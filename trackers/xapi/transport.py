"""The session adapter between tweepy and the network.

tweepy ─> Wire: sign over X's own address, send to `base_url`, read with a deadline ─> Reply
tweepy itself never holds a secret and never sees a body, so it has nothing to write to a log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Timeout
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as TooLate

from trackers.xapi.deadline import connections_to
from trackers.xapi.errors import Garbage, Unavailable, XError

# The address that tweepy asks and that OAuth 1.0a signatures are made for, wherever they are sent.
CANONICAL = "https://api.twitter.com"

# A hundred tweets with all their fields are 0.3 MB; nothing we ask for comes near this.
LARGEST_BODY = 16 << 20
CONNECT_WITHIN_SECONDS = 3.05

# The Authorization header for a method and a canonical URL; "" for none.
Sign = Callable[[str, str], str]
Connections = Callable[[SplitResult], HTTPConnectionPool]


class Reply(requests.Response):
    """X's reply. `body` is its bytes; `content` stays empty, since tweepy logs it eagerly."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, reason: str) -> None:
        super().__init__()
        self.status_code, self.reason, self.body = status, reason, body
        self.headers = CaseInsensitiveDict(headers)
        self._content = b""
        self._content_consumed = True

    @property
    def is_redirect(self) -> bool:
        # Nobody sends our keys after a redirect.
        return False


class Rejected(Exception):
    """X replied with another status than 2xx. Raised past tweepy, which believes the headers."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status_code)
        self.reply = reply


class Wire(BaseAdapter):
    """Sends each request, signed, to `base_url` instead of X's own address."""

    def __init__(
        self,
        sign: Sign,
        *,
        base_url: str,
        timeout: timedelta,
        connections: Connections = connections_to,
    ) -> None:
        super().__init__()
        self._sign = sign
        base = urlsplit(base_url or CANONICAL)
        self._prefix = base.path.rstrip("/")
        self._pool = connections(base)
        self._seconds = timeout.total_seconds()
        self._timeout = Timeout(
            total=self._seconds,
            connect=min(self._seconds, CONNECT_WITHIN_SECONDS),
            read=self._seconds,
        )

    def send(self, request: requests.PreparedRequest, **_: Any) -> Reply:  # type: ignore[override]
        """A 2xx; else Rejected, or XError when there is no reply. Leaves the request as it is."""
        method, url = str(request.method), str(request.url)
        headers = {**request.headers}
        if authorization := self._sign(method, url):
            headers["Authorization"] = authorization
        path = self._prefix + url.removeprefix(CANONICAL)
        try:
            reply = self._exchange(method, path, headers, request.body)
            if 200 <= reply.status_code < 300:
                return reply
            raise Rejected(reply)
        except (HTTPError, OSError) as error:
            failure = self._failure(error)
        # Outside of the handlers, so that it does not carry the libraries' errors along.
        raise failure

    def close(self) -> None:
        self._pool.close()

    def _failure(self, error: Exception) -> XError:
        if isinstance(error, IncompleteRead):
            return Garbage("X's reply ended too early.")
        if isinstance(error, DecodeError):
            return Garbage("X's reply could not be unpacked.")
        # A connection that is refused is a kind of TooLate to urllib3.
        if isinstance(error, TooLate) and not isinstance(error, NewConnectionError):
            return Unavailable(f"X did not answer within {self._seconds:g} s.", maybe_billed=True)
        connected = not isinstance(error, NewConnectionError | SSLError)
        return Unavailable(describe(error), maybe_billed=connected)

    def _exchange(
        self, method: str, path: str, headers: dict[str, Any], sent: bytes | str | None
    ) -> Reply:
        response = self._open(method, path, headers, sent)
        try:
            body = read_body(response)
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return Reply(response.status, response.headers, body, response.reason or "")

    def _open(
        self, method: str, path: str, headers: dict[str, Any], sent: bytes | str | None
    ) -> BaseHTTPResponse:
        """The reply, with its body unread."""
        return self._pool.urlopen(
            method,
            path,
            headers=headers,
            body=sent,
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
            timeout=self._timeout,
        )


def read_body(response: BaseHTTPResponse) -> bytes:
    body = response.read(LARGEST_BODY + 1, decode_content=True)
    if len(body) > LARGEST_BODY:
        raise Garbage(f"X's reply is larger than {LARGEST_BODY >> 20} MB.")
    return body


def describe(error: Exception) -> str:
    """A failed connection in a line; the texts of the libraries name objects and addresses."""
    cause = error.__cause__ or error.__context__
    if isinstance(error, NewConnectionError):
        why = getattr(cause, "strerror", None)
        return f"No connection to X: {why}." if why else "No connection to X."
    if isinstance(error, SSLError):
        return "No secure connection to X: its certificate or its TLS was not accepted."
    return f"The connection to X broke off ({type(cause or error).__name__})."


def session_over(wire: Wire) -> requests.Session:
    """A session that can reach X through `wire` and nothing else, whatever the environment says."""
    session = requests.Session()
    session.trust_env = False
    session.adapters.clear()
    session.mount(CANONICAL + "/", wire)
    return session
