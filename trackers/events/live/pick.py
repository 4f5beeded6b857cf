"""Which events of the feed a reader gets next: pure, from rows that were read."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from trackers.events.live.cursor import Cursor


class FeedRow(NamedTuple):
    """A row of the feed, as `LiveEvents` has it."""

    place: int
    spread_at: datetime
    first_at: datetime
    last_at: datetime
    topics: Sequence[int]
    events: Sequence[int]


@dataclass(frozen=True, slots=True)
class Gap:
    kept_since: datetime  # the reader's topics are kept only since then
    behind: Cursor  # its cursor once it knows that


@dataclass(frozen=True, slots=True)
class Picked:
    reached: Cursor  # how far it looked
    # The reader's cursor after each, by event id, in the order of the feed.
    events: dict[int, Cursor]
    first_at: datetime | None = None  # when the oldest of the rows' events was received
    last_at: datetime | None = None  # and the newest
    gap: Gap | None = None  # comes before all of `events`


def pick(rows: Sequence[FeedRow], start: Cursor, topics: Set[int], *, most: int) -> Picked:
    """The first `most` events from `start` on, but only up to the next mark of the topics."""
    events: dict[int, Cursor] = {}
    reached = start
    gap: Gap | None = None
    used: list[FeedRow] = []
    for row in rows:
        if not row.events:
            if not topics.isdisjoint(row.topics):
                if events:
                    break
                gap = Gap(row.spread_at, Cursor(row.place + 1))
            reached = Cursor(row.place + 1)
            continue
        begin = start.nth if row.place == start.place else 0
        used.append(row)
        for nth in range(begin, len(row.events)):
            if len(events) == most:
                return _picked(used, events, reached, gap)
            reached = Cursor(row.place, nth + 1)
            if row.topics[nth] in topics:
                events[row.events[nth]] = reached
        reached = Cursor(row.place + 1)
    return _picked(used, events, reached, gap)


def _picked(
    rows: Sequence[FeedRow], events: dict[int, Cursor], reached: Cursor, gap: Gap | None
) -> Picked:
    if not rows:
        return Picked(reached, events, gap=gap)
    first, last = min(row.first_at for row in rows), max(row.last_at for row in rows)
    return Picked(reached, events, first, last, gap)
