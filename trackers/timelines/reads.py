"""Reading timelines: pages, what came since, some of the newest. Each read is one statement.

A timeline that was never set, or has expired, is missing; an empty one is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from trackers.timelines.asks import Ask, Segment, SegmentState, checked_ask, entries_of, missing
from trackers.timelines.entries import (
    Entry,
    checked_count,
    checked_id,
    checked_ids,
    checked_list,
    checked_name,
    texts,
)
from trackers.timelines.models import Timeline
from tweetwatch.database import array, compact_sql, cursor

# The timelines of some names, each at its place, looked up one by one. OFFSET 0 is a fence: `live`
# is checked on the row that was found, or the planner might read all live timelines by their index.
# A read within a tenth of a second after the last one is not recorded.
_NAMED = """
    CROSS JOIN LATERAL (
        SELECT id, live, last_read_at < statement_timestamp() - interval '100 ms' AS due
        FROM trackers_timeline WHERE name = a.name OFFSET 0
    ) t
"""
_MATCHES = "SELECT a.place, t.id, t.due, e.entry_id, e.secondary, e.metadata"
_LIVE = "FROM trackers_timelineentry WHERE timeline_id = t.id AND dead_at IS NULL"
_IN_ORDER = "WHERE t.live ORDER BY a.place, e.entry_id DESC"

# One row per entry, newest first, and one without an entry for an empty timeline.
_PAGES = compact_sql(f"""
    {_MATCHES}, false
    FROM unnest(%(names)s::text[], %(offsets)s::int[], %(lengths)s::int[])
         WITH ORDINALITY AS a(name, first, length, place)
    {_NAMED}
    LEFT JOIN LATERAL (
        SELECT entry_id, secondary, metadata {_LIVE}
        ORDER BY entry_id DESC OFFSET a.first LIMIT a.length
    ) e ON true {_IN_ORDER}
""")

# The place of an entry in the order of insertion, dead or not; an unknown one is before all others.
# Within one write the lower id came first.
_CURSORS = f"""
    FROM unnest(%(names)s::text[], %(since)s::bigint[]) WITH ORDINALITY AS a(name, since, place)
    {_NAMED}
    LEFT JOIN LATERAL (
        SELECT seq FROM trackers_timelineentry
        WHERE timeline_id = t.id AND entry_id = a.since OFFSET 0
    ) c ON true
"""
_AFTER = "(seq, entry_id) > (coalesce(c.seq, -1), a.since)"

_SINCE = compact_sql(f"""
    {_MATCHES}, false {_CURSORS}
    LEFT JOIN LATERAL (
        SELECT entry_id, secondary, metadata {_LIVE} AND {_AFTER}
    ) e ON true {_IN_ORDER}
""")

# All entries, and whether each came before: a retweet may repeat one of those.
_SINCE_OF_ALL = compact_sql(f"""
    {_MATCHES}, NOT e.came_after {_CURSORS}
    LEFT JOIN LATERAL (
        SELECT entry_id, secondary, metadata, {_AFTER} AS came_after {_LIVE}
    ) e ON true {_IN_ORDER}
""")

# Among the newest `most`, those with one of the ids, or that repeat one.
_AMONG = compact_sql(f"""
    {_MATCHES}, false
    FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
    {_NAMED}
    LEFT JOIN LATERAL (
        SELECT entry_id, secondary, metadata {_LIVE} ORDER BY entry_id DESC LIMIT %(most)s::int
    ) e ON e.entry_id = ANY(%(ids)s::bigint[]) OR e.secondary = ANY(%(ids)s::bigint[])
    {_IN_ORDER}
""")

# SKIP LOCKED: a read never waits for a writer, and is not recorded while one is at work; so it is
# not part of any lock order. Not flushed if it is its own transaction: a crash may lose it.
_TOUCH = compact_sql("""
    UPDATE trackers_timeline
    SET last_read_at = statement_timestamp(),
        read_on = (statement_timestamp() AT TIME ZONE 'UTC')::date
    WHERE id = ANY(ARRAY(
        SELECT id FROM trackers_timeline WHERE id = ANY(%(ids)s::bigint[])
        FOR NO KEY UPDATE SKIP LOCKED))
      AND set_config('synchronous_commit', CASE
          WHEN %(alone)s::bool THEN 'off' ELSE current_setting('synchronous_commit')
      END, true) <> ''
""")


@dataclass(slots=True)
class Matches:
    """A timeline: its entries, newest first, and the ids of those that came before."""

    id: int
    due: bool
    entries: list[Entry] = field(default_factory=list)
    before: set[int] = field(default_factory=set)


def get(name: str, offset: int, length: int, *, dedupe: bool = False) -> list[Entry]:
    """At most `length` entries, the newest first, after the newest `offset`. TimelineMissing: it
    was never set, or has expired. `dedupe` leaves out repetitions, like `originals`."""
    [segment] = get_multi([Ask(name, offset, length, dedupe)])
    return entries_of(segment, name)


def get_since(name: str, entry_id: int, *, dedupe: bool = False) -> list[Entry]:
    """What was inserted after that entry, newest first, including lower ids that came late. All, if
    the timeline no longer knows the entry. TimelineMissing as in `get`."""
    [segment] = get_multi([Ask(name, 0, None, dedupe, checked_id(entry_id))])
    return entries_of(segment, name)


def filter_newest(name: str, ids: Iterable[int], max_search: int = -1) -> list[Entry]:
    """The entries with one of these ids, or that repeat one, among the newest `max_search`; -1 for
    all. TimelineMissing as in `get`. (`store.filter`)"""
    wanted = checked_ids(ids)
    most = None if max_search == -1 else checked_count(max_search, of="max_search")
    params = {"names": texts([checked_name(name)]), "ids": array(wanted), "most": most}
    timelines = _select(_AMONG, params)
    _touch(timelines.values())
    if 1 not in timelines:
        raise missing(name)
    return timelines[1].entries


def get_multi(asks: Iterable[Ask]) -> list[Segment]:
    """A segment for each ask, in their order; a MISS for a timeline that is missing. Several asks
    may be for the same timeline."""
    checked = [checked_ask(ask) for ask in checked_list(asks, of="asks")]
    timelines = read_timelines(checked)
    _touch(one for one in timelines if one)
    return [
        Segment(SegmentState.HIT, one.entries) if one else Segment(SegmentState.MISS)
        for one in timelines
    ]


def read_timelines(asks: Sequence[Ask]) -> list[Matches | None]:
    """What the asks request, in order; None for a missing timeline. Does not count as a read."""
    timelines: dict[int, Matches] = {}
    for statement in (_PAGES, _SINCE, _SINCE_OF_ALL):
        places = [n for n, ask in enumerate(asks) if _statement_of(ask) is statement]
        if places:
            of_these = _select(statement, _parameters([asks[n] for n in places]))
            timelines |= {places[place - 1]: one for place, one in of_these.items()}
    for n, one in timelines.items():
        _narrow(one, asks[n])
    return [timelines.get(n) for n in range(len(asks))]


def _statement_of(ask: Ask) -> str:
    if ask.since is None:
        return _PAGES
    return _SINCE_OF_ALL if ask.dedupe else _SINCE


def _parameters(asks: Sequence[Ask]) -> dict[str, str]:
    """Parameters for any of the three statements. With dedupe, a page needs all entries."""
    return {
        "names": texts(ask.name for ask in asks),
        "offsets": array(0 if ask.dedupe else ask.offset for ask in asks),
        "lengths": array(None if ask.dedupe else ask.length for ask in asks),
        "since": array(ask.since for ask in asks),
    }


def _select(statement: str, params: Mapping[str, Any]) -> dict[int, Matches]:
    """The timelines that exist, by the places of their names, from 1."""
    timelines: dict[int, Matches] = {}
    with cursor() as db:
        for place, id, due, entry_id, secondary, metadata, before in db.execute(statement, params):
            timeline = timelines.setdefault(place, Matches(id, due))
            if entry_id is not None:
                timeline.entries.append(Entry(entry_id, secondary, metadata or b""))
            if before:
                timeline.before.add(entry_id)
    return timelines


def _narrow(timeline: Matches, ask: Ask) -> None:
    """Do what the statement cannot: dedupe, and cut to the page."""
    if ask.dedupe:
        timeline.entries = _originals(timeline.entries)
    if ask.since is not None:
        timeline.entries = [one for one in timeline.entries if one.id not in timeline.before]
    if ask.dedupe or ask.since is not None:
        end = None if ask.length is None else ask.offset + ask.length
        timeline.entries = timeline.entries[ask.offset : end]


def _originals(entries: Sequence[Entry]) -> list[Entry]:
    """Leave out entries that repeat a lower one that is kept, or repeat the same as a lower one."""
    kept: list[Entry] = []
    seen: set[int] = set()
    for entry in reversed(entries):
        if entry.secondary is not None and entry.secondary in seen:
            continue
        kept.append(entry)
        seen.add(entry.id)
        if entry.secondary is not None:
            seen.add(entry.secondary)
    return kept[::-1]


def _touch(timelines: Iterable[Matches]) -> None:
    """Record that they were read now, which keeps them from expiring."""
    due = sorted({one.id for one in timelines if one.due})
    if due:
        alone = not connection.in_atomic_block
        with cursor() as db:
            db.execute(_TOUCH, {"ids": array(due), "alone": alone})


class TimelineRow(NamedTuple):
    name: str
    live: bool
    size: int
    last_read_at: datetime


def listing(*, prefix: str = "", after: str = "", limit: int = 50) -> Sequence[TimelineRow]:
    """Timelines whose names have this prefix and come after `after`, in the order of names."""
    limit = checked_count(limit, of="A limit")
    timelines = Timeline.objects.filter(name__gt=after, name__gte=prefix)
    if prefix:
        # In the order of code points, names with the prefix end before this one.
        timelines = timelines.filter(name__lt=prefix + "\U0010ffff")
    rows = timelines.order_by("name").values_list(*TimelineRow._fields)[:limit]
    return [TimelineRow(*row) for row in rows]


def peek(ask: Ask) -> list[Entry]:
    """What `get` would return."""
    [timeline] = read_timelines([checked_ask(ask)])
    if timeline is None:
        raise missing(ask.name)
    return timeline.entries
