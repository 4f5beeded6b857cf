"""The filtered stream of a credential's app: one long reply, a line for each post.

connect ─> Opened ─ lines, keep-alives ─> until X hangs up, falls silent, or `close` is called
tweepy's own loop connects again by itself, sleeps, and logs replies; so it only makes the rules.
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

from trackers.xapi.answers import WindowSeen
from trackers.xapi.endpoints import POST_FIELDS, STREAM
from trackers.xapi.errors import BadRequest, Garbage, RateLimited, Unavailable, XError
from trackers.xapi.keys import Keys
from trackers.xapi.parse.problems import read_problem
from trackers.xapi.wire.headers import date_of
from trackers.xapi.wire.line import Line, Send
from trackers.xapi.wire.pools import endless_connections_to
from trackers.xapi.wire.signing import sign_with
from trackers.xapi.wire.transport import (
    CANONICAL,
    CONNECT_WITHIN_SECONDS,
    RejectedReply,
    Reply,
    Sign,
    Wire,
    read_body,
)

PATH = CANONICAL + "/2/tweets/search/stream"
AT_ONCE = 65536
# A post with all its fields is a few kB; a line longer than this has lost its end.
LONGEST_LINE = 1 << 20


class Unreachable(Unavailable):
    """There was no reply at all: the way to X is out of order, and not X."""


class NoRules(BadRequest):
    """X opens no stream for an app without rules."""


class TooManyConnections(RateLimited):
    """X counts another connection of the app, perhaps one that has just died."""


class StreamWire(Wire):
    """Leaves the body of a 200 to be read; every wait for bytes ends after `silence`."""

    def __init__(self, sign: Sign, *, base_url: str, silence: timedelta) -> None:
        super().__init__(
            sign, base_url=base_url, timeout=silence, connections=endless_connections_to
        )
        self.opened: BaseHTTPResponse | None = None

    def _times(self, seconds: float) -> Timeout:
        # Without a total: each wait has its own end.
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
    """One request to connect: X's clock in the reply, which came `at`; and what X refused with."""

    ask: Send
    date: datetime | None = None
    at: float = 0.0
    rejected: bytes | None = field(default=None, repr=False)
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

    date: X's clock when it opened, cut to seconds; None when X told none. at: time.monotonic() as
    it came.
    """

    def __init__(
        self, response: BaseHTTPResponse, line: Line, attempt: Attempt, *, silence: timedelta
    ) -> None:
        self._response, self._line, self._silence = response, line, silence
        self.date, self.at, self.window = attempt.date, attempt.at, attempt.window
        self._closed = False

    def lines(self) -> Iterator[tuple[bytes, bool]]:
        """Each line as it comes, empty for a keep-alive, and whether it had to be waited for.

        Ends when X hangs up properly or after `close`; XError when the connection breaks, or is
        silent. Half a line at the end is dropped.
        """
        try:
            yield from split(self._pieces())
            return
        except XError:
            raise
        except Exception as error:
            # Of any kind, where another thread closed what is being read.
            if self._closed:
                return
            failure = self._failure(error)
        finally:
            self._response.close()
            self._line.close()
        raise failure

    def close(self) -> None:
        """End it, also for the thread that waits for the next line."""
        self._closed = True
        with suppress(OSError, ValueError, RuntimeError, AttributeError):
            self._response.shutdown()

    def _failure(self, error: Exception) -> XError:
        if isinstance(error, TooLate | TimeoutError | socket.timeout):
            return Unreachable(f"X was silent for {self._silence.total_seconds():g} s.")
        return Unreachable("The connection to X broke off.")

    def _pieces(self) -> Iterator[bytes]:
        # As they arrive: what waits until a buffer is full would hold posts back.
        if getattr(self._response, "chunked", False):
            yield from self._response.read_chunked(AT_ONCE, decode_content=True)
            return
        while piece := self._response.read1(AT_ONCE, decode_content=True):
            yield piece


# Less is no wait: the bytes were there already.
A_WAIT_SECONDS = 0.005


def split(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """The lines in the pieces, without their ends, and whether their last piece was waited for."""
    rest = b""
    while True:
        asked = time.monotonic()
        piece = next(pieces, None)
        if piece is None:
            return
        waited = time.monotonic() - asked >= A_WAIT_SECONDS
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.strip(b"\r"), waited
        if len(rest) > LONGEST_LINE:
            raise Garbage(f"X sent a line of more than {LONGEST_LINE >> 20} MB.")


def connect(keys: Keys, *, base_url: str, timeout: timedelta, silence: timedelta) -> Opened:
    """Open the stream of the credential's app; raises XError and nothing else.

    `base_url` is that of `client.look_up`; `silence`: the longest wait for the reply, a line, or a
    keep-alive, which X sends every 20 s. `timeout`, as all questions have it, ends nothing here.
    """
    wire = StreamWire(sign_with(keys), base_url=base_url, silence=silence)
    line = Line(keys, wire)
    attempt = Attempt(lambda: ask_to_connect(line))
    try:
        line.ask(STREAM[keys.api], attempt.send, attempt.read, ())
    except XError as error:
        line.close()
        failure = of_its_kind(error, attempt.rejected)
    else:
        assert wire.opened is not None
        return Opened(wire.opened, line, attempt, silence=silence)
    raise failure


def ask_to_connect(line: Line) -> Reply:
    # Packed lines would wait in the packer until there are more.
    return line.session.get(
        PATH,
        params={"tweet.fields": ",".join(POST_FIELDS)},
        headers={"Accept-Encoding": "identity"},
    )


def of_its_kind(error: XError, rejected: bytes | None) -> XError:
    """The same error, told apart by what X said of the connection; without a reply, Unreachable."""
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
