"""The filtered stream of a credential's app: one long reply, a line for each post.

connect ─> Opened ─ lines, keep-alives ─> until X hangs up, falls silent, or `close` is called
tweepy's own loop reconnects by itself, sleeps, and logs replies, so tweepy only makes the rules.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from urllib3 import BaseHTTPResponse, Timeout
from urllib3.exceptions import TimeoutError as TooLate

from trackers.xapi.endpoints import STREAM
from trackers.xapi.errors import BadRequest, Garbage, RateLimited, Unavailable, XError
from trackers.xapi.keys import Keys
from trackers.xapi.parse.problems import read_problem
from trackers.xapi.results import WindowSeen
from trackers.xapi.vocabulary import TWEETS, fields_in
from trackers.xapi.wire.headers import date_of
from trackers.xapi.wire.pools import endless_connections_to
from trackers.xapi.wire.session import (
    CANONICAL,
    CONNECT_WITHIN_SECONDS,
    RejectedReply,
    Reply,
    Session,
    Sign,
    read_body,
)
from trackers.xapi.wire.signing import sign_with
from trackers.xapi.wire.x_client import Send, XClient

_PATH = CANONICAL + "/2/tweets/search/stream"
_READ_SIZE = 65536
# A post with all its fields is a few kB; a longer line has lost its newline.
_LONGEST_LINE = 1 << 20


class Unreachable(Unavailable):
    """There was no reply at all: the network on the way is failing, not X."""


class NoRules(BadRequest):
    """X opens no stream for an app without rules."""


class TooManyConnections(RateLimited):
    """X counts another connection of the app, perhaps one that has just died."""


class StreamSession(Session):
    """Leaves the body of a 200 unread; every wait for bytes ends after `silence`."""

    def __init__(self, sign: Sign, *, base_url: str, silence: timedelta) -> None:
        super().__init__(
            sign, base_url=base_url, timeout=silence, connections=endless_connections_to
        )
        self.opened: BaseHTTPResponse | None = None

    def _times(self, seconds: float) -> Timeout:
        # No total: a stream has no end, so only each single wait is limited.
        return Timeout(connect=min(seconds, CONNECT_WITHIN_SECONDS), read=seconds)

    def _exchange(
        self, method: str, path: str, headers: dict[str, str], sent: bytes | None
    ) -> Reply:
        response = self._open(method, path, headers, sent)
        if response.status == 200:
            self.opened = response
            return Reply(200, response.headers, b"", response.reason or "")
        try:
            body = read_body(response)
        finally:
            response.close()
        return Reply(response.status, response.headers, body, response.reason or "")


@dataclass(slots=True)
class Attempt:
    """One request to connect."""

    ask: Send
    date: datetime | None = None  # X's clock in the reply
    at: float = 0.0  # time.monotonic() when the reply came
    rejected: bytes | None = field(default=None, repr=False)  # the body of a refusal
    window: WindowSeen | None = None

    def send(self) -> Reply:
        try:
            response = self.ask()
        except RejectedReply as refusal:
            self.rejected = refusal.reply.body
            raise
        self.date, self.at = date_of(response.headers.get("date")), time.monotonic()
        return response

    def read(self, body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None) -> None:
        self.window = window


class Opened:
    """An open stream. One thread reads its lines; any may close it.

    date: X's clock when it opened, in whole seconds; None when X sent no Date. at: time.monotonic()
    when the reply came.
    """

    def __init__(
        self, response: BaseHTTPResponse, client: XClient, attempt: Attempt, *, silence: timedelta
    ) -> None:
        self._response, self._line, self._silence = response, client, silence
        self.date, self.at, self.window = attempt.date, attempt.at, attempt.window
        self._closed = False

    def lines(self) -> Iterator[tuple[bytes, bool]]:
        """Each line as it comes, empty for a keep-alive, and whether we had to wait for it.

        Ends when X closes it properly or after `close`; XError when the connection breaks or falls
        silent. Half a line at the end is dropped.
        """
        try:
            yield from split(self._pieces())
            return
        except XError:
            raise
        except Exception as error:
            # Any error may be raised when another thread closes what is being read.
            if self._closed:
                return
            failure = self._failure(error)
        finally:
            self._response.close()
            self._line.close()
        raise failure

    def close(self) -> None:
        """End it, also for a thread that is waiting for the next line."""
        self._closed = True
        with suppress(OSError, ValueError, RuntimeError, AttributeError):
            self._response.shutdown()

    def _failure(self, error: Exception) -> XError:
        if isinstance(error, TooLate | TimeoutError | socket.timeout):
            return Unreachable(f"X was silent for {self._silence.total_seconds():g} s.")
        return Unreachable("The connection to X broke off.")

    def _pieces(self) -> Iterator[bytes]:
        # As they arrive: waiting for a full buffer would hold posts back.
        if getattr(self._response, "chunked", False):
            yield from self._response.read_chunked(_READ_SIZE, decode_content=True)
            return
        while piece := self._response.read1(_READ_SIZE, decode_content=True):
            yield piece


# Anything shorter is no wait: the bytes were already there.
_A_WAIT_SECONDS = 0.005


def split(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The lines, without newlines, and whether the last piece of each was waited for."""
    rest = b""
    while True:
        asked = time.monotonic()
        piece = next(pieces, None)
        if piece is None:
            return
        waited = time.monotonic() - asked >= _A_WAIT_SECONDS
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.strip(b"\r"), waited
        if len(rest) > _LONGEST_LINE:
            raise Garbage(f"X sent a line of more than {_LONGEST_LINE >> 20} MB.")


def connect(keys: Keys, *, base_url: str, timeout: timedelta, silence: timedelta) -> Opened:
    """Open the stream of the credential's app; raises XError and nothing else.

    `base_url` as in `client.look_up`. `silence`: the longest wait for the reply, a line, or a
    keep-alive, which X sends every 20 s. `timeout`, which every call takes, has no effect here.
    """
    session = StreamSession(sign_with(keys), base_url=base_url, silence=silence)
    client = XClient(keys, session)
    attempt = Attempt(lambda: _ask_to_connect(client))
    try:
        client.ask(STREAM[keys.api], attempt.send, attempt.read, ())
    except XError as error:
        client.close()
        failure = _of_its_kind(error, attempt.rejected)
    else:
        assert session.opened is not None
        return Opened(session.opened, client, attempt, silence=silence)
    raise failure


def _ask_to_connect(client: XClient) -> Reply:
    # No compression: lines would wait in the compressor until there are more.
    return client.session.get(
        _PATH,
        # The stream has kept this vocabulary (X's OpenAPI 2.167).
        params={TWEETS: ",".join(fields_in(TWEETS))},
        headers={"Accept-Encoding": "identity"},
    )


def _of_its_kind(error: XError, rejected: bytes | None) -> XError:
    """The same error, made specific by what X said of the connection; Unreachable if no reply."""
    if rejected is None:
        if isinstance(error, Unavailable):
            return Unreachable(error.reason, window=error.window, sent=error.sent)
        return error
    issue = read_problem(rejected).get("connection_issue")
    if issue == "RuleConfigurationIssue":
        return NoRules(error.reason, window=error.window)
    if issue == "TooManyConnections" and isinstance(error, RateLimited):
        return TooManyConnections(
            error.reason, resets_at=None, retry_after=error.retry_after, window=error.window
        )
    return error
