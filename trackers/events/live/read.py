"""Read the live feed: its newest place, what comes after a cursor, and the last events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trackers.events.delivery.formats import EventRow
from trackers.events.fan_out import fan_out
from trackers.events.live.cursor import Cursor
from trackers.events.live.pick import FeedRow, Gap, pick
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# How many rows, of up to a thousand events each, are looked through at a time; and how many events
# are returned at a time.
_ROWS_PER_READ, _MAX_EVENTS = 10, 500

# Each reads the first entry of an index.
_NEWEST_PLACE = """
    SELECT (SELECT place FROM trackers_liveevents ORDER BY place DESC LIMIT 1),
           EXISTS (SELECT FROM trackers_staged)
"""
_BOUNDS = """
    SELECT oldest.place, oldest.place + oldest.is_mark, oldest.spread_at,
           newest.place, clock_timestamp()
    FROM (SELECT place, spread_at, (events = '{}')::int AS is_mark
          FROM trackers_liveevents ORDER BY place LIMIT 1) oldest,
         (SELECT place FROM trackers_liveevents ORDER BY place DESC LIMIT 1) newest
"""
# The limits are literals, since for a parameter the planner would have to expect any number.
_BEHIND = f"""
    SELECT place, spread_at, first_at, last_at, topics, events
    FROM trackers_liveevents WHERE place >= %(place)s ORDER BY place LIMIT {_ROWS_PER_READ}
"""
# The last 200 rows, from the end; older ones are left out, however few events were found. A mark
# has topics but no events.
_NEWEST_ROWS = """
    SELECT row.place, told.nth, told.id, row.first_at, row.last_at
    FROM (
        SELECT place, first_at, last_at, topics, events
        FROM trackers_liveevents WHERE place >= %(place)s ORDER BY place DESC LIMIT 200
    ) row
    CROSS JOIN LATERAL unnest(row.events, row.topics) WITH ORDINALITY AS told(id, topic, nth)
    WHERE told.id IS NOT NULL AND told.topic = ANY(%(topics)s)
      AND (row.place, told.nth) > (%(place)s, %(nth)s)
    ORDER BY row.place DESC, told.nth DESC LIMIT 100
"""
_EVENTS_BY_ID = statement(__file__, "events")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Topics by id; only tweets of this author and this source. None: of any."""

    topics: frozenset[int]
    author: int | None = None
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Events, each with the reader's cursor after it."""

    events: list[tuple[Cursor, EventRow]]
    reached: Cursor
    gap: Gap | None = None  # to be sent before them


def newest_place() -> int:
    """The place of the newest row; first spreads what is committed, if nobody else does."""
    row = _select_row(_NEWEST_PLACE)
    if row and row[1] and fan_out():
        row = _select_row(_NEWEST_PLACE)
    return (row and row[0]) or 0


def first_read(after: Cursor | None) -> Read:
    """Where a reader begins; no events yet. Without a cursor, after the newest. If it was away for
    too long, at the oldest that is kept; with a cursor ahead of the newest, after the newest."""
    bounds = _select_row(_BOUNDS)
    if bounds is None:
        # Somebody emptied the table.
        return Read([], after or Cursor(0))
    oldest, first, kept_since, newest, now = bounds
    if after is None:
        return Read([], Cursor(newest + 1))
    if after.place > newest + 1:
        # The cursor is of another database, or of this one before it was restored.
        return _gone_on(Cursor(newest + 1), now)
    if after.place < oldest:
        return _gone_on(Cursor(first), kept_since)
    return Read([], after)


def _gone_on(at: Cursor, kept_since: datetime) -> Read:
    return Read([], at, Gap(kept_since, at))


def read_on(start: Cursor, wanted: Wanted) -> Read:
    """What comes next, up to a bound: until `reached` is past the newest there may be more."""
    with cursor() as db:
        rows = [
            FeedRow._make(row) for row in db.execute(_BEHIND, {"place": start.place}).fetchall()
        ]
    picked = pick(rows, start, wanted.topics, most=_MAX_EVENTS)
    events = _events_of(picked.events, picked.first_at, picked.last_at, wanted)
    # Some are filtered out, or no longer kept.
    in_order = [(place, events[id]) for id, place in picked.events.items() if id in events]
    return Read(in_order, picked.reached, picked.gap)


def newest_events(after: Cursor, wanted: Wanted) -> list[tuple[Cursor, EventRow]]:
    """At most the last hundred events behind `after`, newest first."""
    params = {"place": after.place, "nth": after.nth, "topics": sorted(wanted.topics)}
    with cursor() as db:
        rows = db.execute(_NEWEST_ROWS, params).fetchall()
    if not rows:
        return []
    first, last = min(row[3] for row in rows), max(row[4] for row in rows)
    events = _events_of([row[2] for row in rows], first, last, wanted)
    return [(Cursor(place, nth), events[id]) for place, nth, id, _, _ in rows if id in events]


def _events_of(
    ids: Iterable[int], first_at: datetime | None, last_at: datetime | None, wanted: Wanted
) -> Mapping[int, EventRow]:
    params = {
        "ids": sorted(ids),
        "first_at": first_at,
        "last_at": last_at,
        "author": wanted.author,
        "source": wanted.source,
    }
    if not params["ids"]:
        return {}
    with cursor() as db:
        return {row[0]: EventRow._make(row) for row in db.execute(_EVENTS_BY_ID, params)}


def _select_row(statement: str) -> tuple[Any, ...] | None:
    with cursor() as db:
        return db.execute(statement).fetchone()
