"""The live feed as it is read: what is newest, what comes behind a cursor, and the last of it."""

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

# Rows that are looked through at a time, of up to a thousand events each; and how many of their
# events are told at a time.
ROWS, MOST = 10, 500

# Each by the first entry of an index.
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
# The limits are literals: one that the planner does not know might as well be all of them.
BEHIND = f"""
    SELECT place, spread_at, first_at, last_at, topics, events
    FROM trackers_liveevents WHERE place >= %(place)s ORDER BY place LIMIT {ROWS}
"""
# Looked through from the end; what is older is left out, however few were found. A mark has topics
# without events.
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
# One by one by their key, in the partitions of their days alone, and LIMIT 1: for a list of ids the
# planner may read all of a partition, when it takes it for empty. Filters are those of the bus: of
# a tweet that was untracked nobody knows the author or the source any more, so its end passes.
EVENTS = """
    SELECT e.id, topic.name, e.type, e.t, e.tweet_id, e.url, e.figures, e.data::text
    FROM unnest(%(ids)s::bigint[]) AS wanted(id)
    CROSS JOIN LATERAL (
        SELECT id, topic_id, type, t, tweet_id, url, figures, data FROM trackers_event
        WHERE id = wanted.id AND received_at BETWEEN %(first_at)s AND %(last_at)s LIMIT 1
    ) e
    JOIN trackers_topic topic ON topic.id = e.topic_id
    CROSS JOIN LATERAL (
        SELECT e.type = 'delete' AND NOT EXISTS (
            SELECT FROM trackers_tweet WHERE id = e.tweet_id) AS is_lost
    ) l
    WHERE (%(author)s::bigint IS NULL OR is_lost OR EXISTS (
              SELECT FROM trackers_tweet WHERE id = e.tweet_id AND author_id = %(author)s))
      AND (%(source)s::bigint IS NULL OR is_lost OR EXISTS (
              SELECT FROM trackers_sourcetweet
              WHERE tweet_id = e.tweet_id AND source_id = %(source)s))
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The ids of topics; only tweets of this author, and of this source. None: of any."""

    topics: frozenset[int]
    author: int | None = None
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Events, each with where a reader stands who has read it. `gap`: to be told before them."""

    events: list[tuple[Cursor, Told]]
    reached: Cursor
    gap: Gap | None = None


def look() -> int:
    """The place of the newest row, once what is committed is spread, if nobody else does."""
    found = ask(LOOK)
    if found and found[1] and spread():
        found = ask(LOOK)
    return (found and found[0]) or 0


def begin(after: Cursor | None) -> Read:
    """From where a reader is told: nothing yet. Behind the newest by default, and if it was away
    for too long or stands where nothing ever was, from the oldest that is kept."""
    bounds = ask(BOUNDS)
    if bounds is None:
        # Somebody emptied the table.
        return Read([], after or Cursor(0))
    oldest, first, kept_since, newest, now = bounds
    if after is None:
        return Read([], Cursor(newest + 1))
    if after.place > newest + 1:
        # Of another database, or of this one before it was restored.
        return gone_on(Cursor(newest + 1), now)
    if after.place < oldest:
        return gone_on(Cursor(first), kept_since)
    return Read([], after)


def gone_on(at: Cursor, kept_since: datetime) -> Read:
    return Read([], at, Gap(kept_since, at))


def read_on(start: Cursor, wanted: Wanted) -> Read:
    """What comes next, up to a bound: until `reached` is behind the newest there may be more."""
    with cursor() as db:
        rows = [Row._make(row) for row in db.execute(BEHIND, {"place": start.place}).fetchall()]
    found = pick(rows, start, wanted.topics, most=MOST)
    told = events_of(found.events, found.first_at, found.last_at, wanted)
    # Some are filtered out, or kept no longer.
    in_order = [(place, told[id]) for id, place in found.events.items() if id in told]
    return Read(in_order, found.reached, found.gap)


def newest(after: Cursor, wanted: Wanted) -> list[tuple[Cursor, Told]]:
    """The last hundred behind `after` at the most, the newest first."""
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
