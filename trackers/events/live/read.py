"""Read the live feed: its newest place, what comes after a cursor, and the last events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trackers.events.delivery.shapes import Told
from trackers.events.live.cursor import Cursor
from trackers.events.live.pick import Gap, Row, pick
from trackers.events.spread import spread
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# How many rows, of up to a thousand events each, are looked through at a time; and how many events
# are returned at a time.
ROWS, MOST = 10, 500

# Each reads the first entry of an index.
LOOK = """
    SELECT (SELECT place FROM trackers_liveevents ORDER BY place DESC LIMIT 1),
           EXISTS (SELECT FROM trackers_staged)
"""
BOUNDS = """
    SELECT oldest.place, oldest.place + oldest.is_mark, oldest.spread_at,
           newest.place, clock_timestamp()
    FROM (SELECT place, spread_at, (events = '{}')::int AS is_mark
          FROM trackers_liveevents ORDER BY place LIMIT 1) oldest,
         (SELECT place FROM trackers_liveevents ORDER BY place DESC LIMIT 1) newest
"""
# The limits are literals, since for a parameter the planner would have to expect any number.
BEHIND = f"""
    SELECT place, spread_at, first_at, last_at, topics, events
    FROM trackers_liveevents WHERE place >= %(place)s ORDER BY place LIMIT {ROWS}
"""
# The last 200 rows, from the end; older ones are left out, however few events were found. A mark
# has topics but no events.
NEWEST = """
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
EVENTS = statement(__file__, "events")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Topics by id; only tweets of this author and this source. None: of any."""

    topics: frozenset[int]
    author: int | None = None
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Events, each with the reader's cursor after it. `gap`: to be sent before them."""

    events: list[tuple[Cursor, Told]]
    reached: Cursor
    gap: Gap | None = None


def look() -> int:
    """The place of the newest row; first spreads what is committed, if nobody else does."""
    found = ask(LOOK)
    if found and found[1] and spread():
        found = ask(LOOK)
    return (found and found[0]) or 0


def begin(after: Cursor | None) -> Read:
    """Where a reader begins; no events yet. Without a cursor, after the newest. If it was away for
    too long, at the oldest that is kept; with a cursor ahead of the newest, after the newest."""
    bounds = ask(BOUNDS)
    if bounds is None:
        # Somebody emptied the table.
        return Read([], after or Cursor(0))
    oldest, first, kept_since, newest, now = bounds
    if after is None:
        return Read([], Cursor(newest + 1))
    if after.place > newest + 1:
        # The cursor is of another database, or of this one before it was restored.
        return gone_on(Cursor(newest + 1), now)
    if after.place < oldest:
        return gone_on(Cursor(first), kept_since)
    return Read([], after)


def gone_on(at: Cursor, kept_since: datetime) -> Read:
    return Read([], at, Gap(kept_since, at))


def read_on(start: Cursor, wanted: Wanted) -> Read:
    """What comes next, up to a bound: until `reached` is past the newest there may be more."""
    with cursor() as db:
        rows = [Row._make(row) for row in db.execute(BEHIND, {"place": start.place}).fetchall()]
    found = pick(rows, start, wanted.topics, most=MOST)
    told = events_of(found.events, found.first_at, found.last_at, wanted)
    # Some are filtered out, or no longer kept.
    in_order = [(place, told[id]) for id, place in found.events.items() if id in told]
    return Read(in_order, found.reached, found.gap)


def newest(after: Cursor, wanted: Wanted) -> list[tuple[Cursor, Told]]:
    """At most the last hundred events behind `after`, newest first."""
    given = {"place": after.place, "nth": after.nth, "topics": sorted(wanted.topics)}
    with cursor() as db:
        rows = db.execute(NEWEST, given).fetchall()
    if not rows:
        return []
    first, last = min(row[3] for row in rows), max(row[4] for row in rows)
    told = events_of([row[2] for row in rows], first, last, wanted)
    return [(Cursor(place, nth), told[id]) for place, nth, id, _, _ in rows if id in told]


def events_of(
    ids: Iterable[int], first_at: datetime | None, last_at: datetime | None, wanted: Wanted
) -> Mapping[int, Told]:
    given = {
        "ids": sorted(ids),
        "first_at": first_at,
        "last_at": last_at,
        "author": wanted.author,
        "source": wanted.source,
    }
    if not given["ids"]:
        return {}
    with cursor() as db:
        return {row[0]: Told._make(row) for row in db.execute(EVENTS, given)}


def ask(statement: str) -> tuple[Any, ...] | None:
    with cursor() as db:
        return db.execute(statement).fetchone()
