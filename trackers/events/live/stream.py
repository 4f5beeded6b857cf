"""The live feed as server-sent events: what a reader gets in one answer.

opening (retry, id, gap?) ─> what came since ─> what comes, until its time is up
A stream ends by itself, and its reader comes back with Last-Event-ID. It holds a thread, but while
it waits neither a transaction nor a database connection. If no place is free, the answer is what
came since, and the reader comes back a little later: it polls.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

import orjson
from django.db import connection

from trackers.events.delivery.formats import Shape
from trackers.events.live.cursor import Cursor
from trackers.events.live.lookout import lookout
from trackers.events.live.open import teller
from trackers.events.live.places import place
from trackers.events.live.read import Read, Wanted, first_read, read_on
from tweetwatch.clock_times import iso
from tweetwatch.database import LOST
from tweetwatch.http.stopping import is_stopping

logger = logging.getLogger(__name__)

# Seconds after which something is sent, so that proxies keep the connection, and a broken one is
# noticed.
HEARTBEAT = 5.0
# Seconds for which a polling reader may catch up in one answer.
CATCHING_UP = 5.0
# Milliseconds until the reader comes back: after a stream, after an answer without a place.
AGAIN, POLL = 500, 5000
# The stream's own events. Their names have a hyphen, which no topic's name has.
STREAM_GAP, STREAM_BUSY = "stream-gap", "stream-busy"
MISSING = (
    "Events between your Last-Event-ID and kept_since are no longer kept. The stream continues."
)
FULL = "Too many streams are open. Try again after retry_ms milliseconds."
END = b": this stream ends here; go on with Last-Event-ID\n\n"


@dataclass(frozen=True, slots=True)
class Terms:
    """`places`: streams per process. `seconds`: how long a stream lasts."""

    places: int
    seconds: float


def stream(after: Cursor | None, wanted: Wanted, shape: Shape, terms: Terms) -> Iterator[bytes]:
    """What is sent, piece by piece. It ends early while the database is away."""
    try:
        with place(terms.places) as stays:
            yield from write_stream(
                after, wanted, shape, terms if stays else Terms(terms.places, 0)
            )
    except LOST as error:
        logger.warning(
            "a live stream ends: the database cannot be reached (%s)", type(error).__name__
        )
    finally:
        teller.tell(terms.places)
        connection.close()


def write_stream(
    after: Cursor | None, wanted: Wanted, shape: Shape, terms: Terms
) -> Iterator[bytes]:
    """With `terms.seconds` 0: what came since, without waiting for more."""
    seconds = terms.seconds
    until = time.monotonic() + seconds
    no_longer = until if seconds else until + CATCHING_UP
    read = first_read(after)
    yield opening(read, AGAIN if seconds else POLL, shape)
    if not seconds:
        yield event(STREAM_BUSY, {"retry_ms": POLL, "told": FULL})
    sent_at = time.monotonic()
    while True:
        newest = lookout.newest() if seconds else lookout.newest_now()
        while read.reached.place <= newest and not is_over(no_longer):
            read = read_on(read.reached, wanted)
            if read.events or read.gap:
                # Writing may take long: hold no database connection meanwhile.
                connection.close()
                yield in_words(read, shape)
                sent_at = time.monotonic()
        teller.tell(terms.places)
        connection.close()
        if is_over(until):
            break
        if time.monotonic() - sent_at >= HEARTBEAT:
            # With the id, so that a reader that comes back does not go through the same rows again.
            yield f": nothing new\nid: {read.reached}\n\n".encode()
            sent_at = time.monotonic()
        is_stopping.wait(min(lookout.until_due(), max(0, until - time.monotonic())))
    yield f"id: {read.reached}\n\n".encode() + END


def is_over(until: float) -> bool:
    return time.monotonic() >= until or is_stopping.is_set()


def opening(read: Read, retry: int, shape: Shape) -> bytes:
    """Has an id even without events: from here on nothing is missed."""
    head = f"retry: {retry}\n".encode()
    return head + (in_words(read, shape) or f"id: {read.reached}\n\n".encode())


def in_words(read: Read, shape: Shape) -> bytes:
    gap = b""
    if read.gap:
        since = iso(read.gap.kept_since, to="milliseconds")
        gap = event(STREAM_GAP, {"kept_since": since, "told": MISSING}, read.gap.behind)
    return gap + b"".join(
        event(told.topic, {**shape.of(told), "tweet_id": told.tweet_id and str(told.tweet_id)}, at)
        for at, told in read.events
    )


def event(name: str, data: object, at: Cursor | None = None) -> bytes:
    """One server-sent event; a single data line does, as the JSON has no line breaks."""
    id = f"id: {at}\n".encode() if at else b""
    return id + f"event: {name}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"
