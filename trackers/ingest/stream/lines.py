"""What was heard ─> StreamBatch: our posts, and the time up to which everything has been read."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.stream.clock import StreamClock
from trackers.ingest.stream.listeners import Listeners
from trackers.ingest.stream.reader import End, Heard
from trackers.tweets.snowflake import born_at
from trackers.xapi.parse.stream import Event, Farewell, read_line

logger = logging.getLogger(__name__)

_LOGGED_EVERY = 60.0  # seconds, at most
# Ids below carry no time (November 2010).
_SNOWFLAKES_FROM = 30_000_000_000


@dataclass(slots=True)
class StreamBatch:
    """What is stored together."""

    posts: dict[int, FoundTweet] = field(default_factory=dict)  # each once
    sources: dict[int, tuple[int, ...]] = field(default_factory=dict)  # whose it is
    others: set[int] = field(default_factory=set)  # posts that were billed but belong to no source
    lines: int = 0
    again: int = 0  # how many lines were repeats within it
    garbled: int = 0
    why: str = ""
    # By X's clock, everything sent up to then is in this batch or an earlier one.
    until: datetime | None = None
    # A post or a keep-alive came; a farewell or half a line is no sign of life.
    alive: bool = False
    farewell: Farewell | None = None
    end: End | None = None  # no more will come

    @property
    def is_empty(self) -> bool:
        return not self.lines and self.until is None


def sort_out(heard: Sequence[Heard | End], who: Listeners, clock: StreamClock) -> StreamBatch:
    batch = StreamBatch()
    for item in heard:
        if isinstance(item, End):
            batch.end = item
        elif item.line:
            batch.lines += 1
            _read_heard(item, who, batch, clock)
        else:
            batch.alive = True
            if item.waited:
                _reach(batch, clock.x_at(item.at))
    return batch


def _read_heard(heard: Heard, who: Listeners, batch: StreamBatch, clock: StreamClock) -> None:
    message = read_line(heard.line)
    if isinstance(message, Event):
        batch.alive = True
        _keep_event(message, who.of(message.rules), batch, clock.ours_at(heard.at))
        # Not the time it was read: it may have waited, here or at X, with others queued behind it.
        if message.id > _SNOWFLAKES_FROM:
            _reach(batch, min(born_at(message.id), clock.x_at(heard.at)))
    elif isinstance(message, Farewell):
        batch.farewell = message
    else:
        batch.garbled += 1
        batch.why = message.why


def _keep_event(event: Event, sources: tuple[int, ...], batch: StreamBatch, at: datetime) -> None:
    if not sources:
        batch.others.add(event.id)
        return
    if event.id in batch.posts:
        batch.again += 1
        sources = tuple(sorted({*sources, *batch.sources[event.id]}))
    batch.posts[event.id] = FoundTweet(event.id, event.post, at)
    batch.sources[event.id] = sources


def _reach(batch: StreamBatch, until: datetime) -> None:
    batch.until = max(batch.until or until, until)


def bare(tweets: Iterable[FoundTweet]) -> list[FoundTweet]:
    """The ids alone, for posts that the database rejects."""
    return [FoundTweet(one.id) for one in tweets]


@dataclass(slots=True)
class GarbledLog:
    """Reports lines that could not be read."""

    count: int = 0
    logged_at: float = float("-inf")

    def add(self, batch: StreamBatch) -> None:
        self.count += batch.garbled
        if not batch.garbled or time.monotonic() - self.logged_at < _LOGGED_EVERY:
            return
        logger.warning(
            "lines of the stream that could not be read: %d (%s); search looks for what they held",
            self.count,
            batch.why,
        )
        self.count, self.logged_at = 0, time.monotonic()
