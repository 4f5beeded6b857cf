"""What tweepy takes for a requests session: builds a request, sends it signed, reads its reply.

tweepy ─> Session: address, headers, body ─> to `base_url`, signed for it, with a deadline ─> Reply
tweepy itself never holds a secret and never sees a body, so it has nothing to log. requests would
parse and quote a URL with a hundred ids several times over, character by character, which takes as
long as all the rest of a look-up.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from types import TracebackType
from typing import Any, Self
from urllib.parse import SplitResult, quote_plus, urlencode, urlsplit

from requests.utils import default_headers
from urllib3 import BaseHTTPResponse, Timeout
from urllib3.exceptions import DecodeError, HTTPError, IncompleteRead
from urllib3.exceptions import TimeoutError as TooLate

from trackers.xapi.errors import Garbage, Unavailable, XError
from trackers.xapi.wire.connect import NotTaken
from trackers.xapi.wire.pools import Pool, connections_to

# The address that tweepy asks, wherever requests are really sent; X's own unless another is set.
CANONICAL = "https://api.twitter.com"

# A hundred tweets with all their fields are 0.3 MB; nothing we ask for comes near this.
_LARGEST_BODY = 16 << 20
CONNECT_WITHIN_SECONDS = 3.05

_DEFAULTS: Mapping[str, str] = dict(default_headers())
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"

# The Authorization header for a method and the real URL; "" for none.
Sign = Callable[[str, str], str]
Connections = Callable[[SplitResult], Pool]


class Reply:
    """X's reply, with what tweepy needs of a requests response. Header names are in lower case.

    `body` is its bytes; `content` stays empty, since tweepy logs it eagerly.
    """

    __slots__ = ("body", "headers", "reason", "status_code")

    content = b""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, reason: str) -> None:
        self.status_code, self.reason, self.body = status, reason, body
        # By name: urllib3 joins a repeated header only when looked up.
        self.headers: Mapping[str, str] = {name.lower(): headers[name] for name in headers}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to close: the body was read and the connection given back before."""


class RejectedReply(Exception):
    """X's status was not 2xx. Raised past tweepy, which trusts the headers."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status_code)
        self.reply = reply


class Session:
    """Sends each request, signed, to `base_url` instead of X's own address, whatever the
    environment says. Keeps no cookies, follows no redirects. For one thread."""

    def __init__(
        self,
        sign: Sign,
        *,
        base_url: str,
        timeout: timedelta,
        connections: Connections = connections_to,
    ) -> None:
        self._sign = sign
        base = urlsplit(base_url or CANONICAL)
        self._origin, self._prefix = f"{base.scheme}://{base.netloc}", base.path.rstrip("/")
        self._pool = connections(base)
        self._seconds = timeout.total_seconds()

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        data: Mapping[str, str] | None = None,
        json: Any = None,
        headers: Mapping[str, str] | None = None,
        auth: None = None,
    ) -> Reply:
        """A 2xx reply; else RejectedReply, or XError when there is no reply.

        `url` begins with CANONICAL, or it is a ValueError. `auth` is there only because tweepy
        always passes it: this session signs.
        """
        body, kind = body_of(data, json)
        sent = {**_DEFAULTS, **(headers or {}), **({"Content-Type": kind} if kind else {})}
        return self._send(method, url_with_query(url, params or {}), sent, body)

    def get(
        self,
        url: str,
        *,
        params: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        return self.request("GET", url, params=params, headers=headers)

    def post(self, url: str, *, data: Mapping[str, str]) -> Reply:
        return self.request("POST", url, data=data)

    def close(self) -> None:
        self._pool.close()

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        if not url.startswith(CANONICAL + "/"):
            raise ValueError("Only X is asked.")
        sent, path = {**headers}, self._prefix + url.removeprefix(CANONICAL)
        if authorization := self._sign(method, self._origin + path):
            sent["Authorization"] = authorization
        try:
            reply = self._exchange(method, path, sent, body)
        except XError:
            raise
        except Exception as error:
            failure = self._failure(error)
        else:
            if 200 <= reply.status_code < 300:
                return reply
            raise RejectedReply(reply)
        # Outside the handlers, so that it does not carry the libraries' errors along.
        raise failure

    def _failure(self, error: Exception) -> XError:
        if isinstance(error, IncompleteRead):
            return Garbage("X's reply ended too early.")
        if isinstance(error, DecodeError):
            return Garbage("X's reply could not be unpacked.")
        if isinstance(error, TooLate):
            return Unavailable(f"X did not answer within {self._seconds:g} s.", maybe_billed=True)
        if not isinstance(error, HTTPError | OSError):
            # What the libraries do not expect: a chunk of -5 bytes raises ValueError.
            return Garbage(f"X's reply could not be read ({type(error).__name__}).")
        cause = error.__cause__ or error.__context__ or error
        why = f"The connection to X broke off ({type(cause).__name__})."
        return Unavailable(why, maybe_billed=True)

    def _exchange(
        self, method: str, path: str, headers: dict[str, str], sent: bytes | None
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
        self, method: str, path: str, headers: dict[str, str], sent: bytes | None
    ) -> BaseHTTPResponse:
        """The reply, its body unread; NotTaken when X cannot have got the request.

        Only then is a request retried, and only if it changes nothing: one that was written and
        lost without a reply may have been read, counted and billed.
        """
        ends = self._pool.ends = time.monotonic() + self._seconds
        self._pool.target = path
        ask = partial(
            self._pool.urlopen,
            method,
            "/",
            headers=headers,
            body=sent,
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        try:
            return ask(timeout=self._times(self._seconds))
        except NotTaken as lost:
            left = ends - time.monotonic()
            if method != "GET" or not lost.was_kept or left <= 0:
                raise
        return ask(timeout=self._times(left))

    def _times(self, seconds: float) -> Timeout:
        """Limits for the parts of an exchange that may take this long in all."""
        return Timeout(total=seconds, connect=min(seconds, CONNECT_WITHIN_SECONDS), read=seconds)


def read_body(response: BaseHTTPResponse) -> bytes:
    body = response.read(_LARGEST_BODY + 1, decode_content=True)
    if len(body) > _LARGEST_BODY:
        raise Garbage(f"X's reply is larger than {_LARGEST_BODY >> 20} MB.")
    return body


def url_with_query(url: str, params: Mapping[str, Any]) -> str:
    """The URL with these as its query, quoted as requests does; None values are left out."""
    query = {name: value for name, value in params.items() if value is not None}
    return f"{url}?{urlencode(query, doseq=True, quote_via=_quote)}" if query else url


def _quote(text: Any, *_: Any) -> str:
    """As `quote_plus`, which goes character by character where anything has to be quoted.

    In a list of ids only the commas have to be.
    """
    return quote_plus(text, safe=",").replace(",", "%2C")


def body_of(data: Mapping[str, str] | None, value: Any) -> tuple[bytes | None, str]:
    """A form, or a JSON value, as bytes, with its content type; None for neither."""
    if data:
        return urlencode(data).encode(), _FORM
    if value is not None:
        return json.dumps(value, allow_nan=False).encode(), _JSON
    return None, ""
