"""The live feed as server-sent events: what a reader gets in one answer.

opening (retry, id, gap?) ─> what came since ─> what comes, until its time is up
A stream ends by itself, and its reader comes back with Last-Event-ID. It holds a thread, but while
it waits neither a transaction nor a database connection. If no place is free, the answer is what
came since, and the reader comes back a little later: it polls.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import orjson
from django.db import connection

from trackers.events.delivery.formats import Shape
from trackers.events.live.cursor import Cursor
from trackers.events.live.open import place, reporter
from trackers.events.live.read import Read, Wanted, first_read, newest_place, read_on
from tweetwatch.clock_times import iso
from tweetwatch.database import LOST, why_lost
from tweetwatch.http.stopping import is_stopping

# Seconds between two looks for new events.
_EVERY = 0.5


class Lookout:
    """One look for all streams of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = 0
        self._due = 0.0

    def newest(self) -> int:
        """The place of the newest row, at most half a second old."""
        with self._lock:
            return self._newest if time.monotonic() < self._due else self._look()

    def newest_now(self) -> int:
        with self._lock:
            return self._look()

    def _look(self) -> int:
        self._newest = newest_place()
        self._due = time.monotonic() + _EVERY
        return self._newest

    def until_due(self) -> float:
        """Seconds until it is worth asking again."""
        return max(0.0, self._due - time.monotonic())


lookout = Lookout()


logger = logging.getLogger(__name__)

# Seconds after which something is sent, so that proxies keep the connection, and a broken one is
# noticed.
_HEARTBEAT = 5.0
# Seconds for which a polling reader may catch up in one answer.
_CATCHING_UP = 5.0
# Milliseconds until the reader comes back: after a stream, after an answer without a place, and
# when its account has too many open. A thousand tabs that came back every five seconds made pages
# four times as slow.
_AGAIN, _POLL, _CROWDED = 500, 5000, 30_000
# The stream's own events. Their names have a hyphen, which no topic's name has.
_STREAM_GAP, _STREAM_BUSY = "stream-gap", "stream-busy"
_MISSING = (
    "Events between your Last-Event-ID and kept_since are no longer kept. The stream continues."
)
_FULL = "Too many streams are open. Try again after retry_ms milliseconds."
_END = b": this stream ends here; go on with Last-Event-ID\n\n"


@dataclass(frozen=True, slots=True)
class Terms:
    places: int  # streams per process
    seconds: float  # how long a stream lasts


def stream(after: Cursor | None, wanted: Wanted, shape: Shape, terms: Terms) -> Iterator[bytes]:
    """What is sent, piece by piece. It ends early while the database is away."""
    try:
        with place(terms.places) as stays:
            yield from _write_stream(
                after, wanted, shape, terms if stays else Terms(terms.places, 0)
            )
    except LOST as error:
        logger.warning("a live stream ends, because the database failed: %s", why_lost(error))
    finally:
        reporter.report(terms.places)
        connection.close()


def _write_stream(
    after: Cursor | None, wanted: Wanted, shape: Shape, terms: Terms
) -> Iterator[bytes]:
    """With `terms.seconds` 0: what came since, without waiting for more."""
    seconds = terms.seconds
    until = time.monotonic() + seconds
    no_longer = until if seconds else until + _CATCHING_UP
    read = first_read(after)
    yield _opening(read, _AGAIN if seconds else _POLL, shape)
    if not seconds:
        yield _event(_STREAM_BUSY, {"retry_ms": _POLL, "told": _FULL})
    sent_at = time.monotonic()
    while True:
        newest = lookout.newest() if seconds else lookout.newest_now()
        while read.reached.place <= newest and not _is_over(no_longer):
            read = read_on(read.reached, wanted)
            if read.events or read.gap:
                # Writing may take long: hold no database connection meanwhile.
                connection.close()
                yield _in_words(read, shape)
                sent_at = time.monotonic()
        reporter.report(terms.places)
        connection.close()
        if _is_over(until):
            break
        if time.monotonic() - sent_at >= _HEARTBEAT:
            # With the id, so that a reader that comes back does not go through the same rows again.
            yield f": nothing new\nid: {read.reached}\n\n".encode()
            sent_at = time.monotonic()
        is_stopping.wait(min(lookout.until_due(), max(0, until - time.monotonic())))
    yield f"id: {read.reached}\n\n".encode() + _END


def busy() -> bytes:
    """What those are sent whose stream is not even begun."""
    retry = f"retry: {_CROWDED}\n".encode()
    return retry + _event(_STREAM_BUSY, {"retry_ms": _CROWDED, "told": _FULL})


def _is_over(until: float) -> bool:
    return time.monotonic() >= until or is_stopping.is_set()


def _opening(read: Read, retry: int, shape: Shape) -> bytes:
    """Has an id even without events: from here on nothing is missed."""
    head = f"retry: {retry}\n".encode()
    return head + (_in_words(read, shape) or f"id: {read.reached}\n\n".encode())


def _in_words(read: Read, shape: Shape) -> bytes:
    gap = b""
    if read.gap:
        since = iso(read.gap.kept_since, to="milliseconds")
        gap = _event(_STREAM_GAP, {"kept_since": since, "told": _MISSING}, read.gap.behind)
    return gap + b"".join(
        _event(told.topic, {**shape.of(told), "tweet_id": told.tweet_id and str(told.tweet_id)}, at)
        for at, told in read.events
    )


def _event(name: str, data: object, at: Cursor | None = None) -> bytes:
    """One server-sent event; a single data line does, as the JSON has no line breaks."""
    id = f"id: {at}\n".encode() if at else b""
    return id + f"event: {name}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"
