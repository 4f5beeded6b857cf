"""Add entries to timelines in one statement, however many entries and timelines there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from trackers.timelines.bounds import Bounds, bounds_of, least_upper
from trackers.timelines.entries import Entry, array_elements, texts
from trackers.timelines.locks import lock, often_in
from tweetwatch.database import array, compact_sql, cursor

# What is locked ─> what was added ─> the timelines that have grown.
# Locks: the rows of the timelines, in the order of names (`locks`). `live` and `seq` are read after
# the row is locked, so that `seq` goes by the order of commits.
# ON CONFLICT sees what is committed, whatever this statement saw when it began: an existing entry
# stays as it is, and a tombstone stays dead.
# Fences: MATERIALIZED, so that the locks are taken first, and once. `live` is checked on the rows
# that were found, or the planner might read all live timelines by their index. = ANY of an array
# and `often_in` (how often an id is in it) stand in for a join to `added`, which might be planned
# as a comparison of all with all.
_ADDED = """
    added AS (
        INSERT INTO trackers_timelineentry (timeline_id, entry_id, seq, secondary, metadata)
        {new}
        ON CONFLICT (timeline_id, entry_id) DO NOTHING
        RETURNING timeline_id
    ),
    grown AS (
        UPDATE trackers_timeline t
        SET seq = t.seq + 1, size = t.size + {entries}
        FROM (SELECT array_agg(timeline_id ORDER BY timeline_id) AS ids FROM added) a
        WHERE t.id = ANY(a.ids)
        RETURNING t.name, t.size
    )
    SELECT name, size FROM grown WHERE size > %(upper)s
"""

# The same entries to all of the names. Timeline by timeline, the order of the indexes: entry by
# entry, each row would go to a different page.
_ADD_TO_ALL = compact_sql(
    """
    WITH locked AS MATERIALIZED (
        SELECT id, seq, live FROM trackers_timeline WHERE name = ANY(%(names)s::text[])
        ORDER BY name FOR NO KEY UPDATE
    ),
    """
    + _ADDED.format(
        entries=often_in("a.ids"),
        new="""
        SELECT l.id, n.entry_id, l.seq + 1, n.secondary, n.metadata
        FROM locked l CROSS JOIN unnest(
            %(ids)s::bigint[], %(secondaries)s::bigint[], %(metadata)s::bytea[]
        ) AS n(entry_id, secondary, metadata)
        WHERE l.live
        ORDER BY l.id, n.entry_id
        """,
    )
)

# Each entry to the name at its `place`. Timeline ids are looked up in an array by place, again
# instead of a join.
_ADD_TO_EACH = compact_sql(
    """
    WITH locked AS MATERIALIZED (
        SELECT a.place, t.id, t.seq, t.live
        FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
        LEFT JOIN LATERAL (
            SELECT id, seq, live FROM trackers_timeline WHERE name = a.name FOR NO KEY UPDATE
        ) t ON true
    ),
    placed AS MATERIALIZED (
        SELECT array_agg(CASE WHEN live THEN id ELSE 0 END ORDER BY place) AS ids,
               array_agg(coalesce(seq, 0) ORDER BY place) AS seqs
        FROM locked
    ),
    """
    + _ADDED.format(
        entries=often_in("a.ids"),
        new="""
        SELECT p.ids[n.place], n.entry_id, p.seqs[n.place] + 1, n.secondary, n.metadata
        FROM placed p CROSS JOIN unnest(
            %(places)s::int[], %(ids)s::bigint[], %(secondaries)s::bigint[], %(metadata)s::bytea[]
        ) AS n(place, entry_id, secondary, metadata)
        WHERE p.ids[n.place] > 0
        """,
    )
)

# The timelines are locked. Deletes all but the newest `lower` entries of each that is still too
# long.
_CUT = """
    WITH lowest AS MATERIALIZED (
        SELECT a.id, e.entry_id
        FROM unnest(%(ids)s::bigint[], %(lowers)s::int[], %(uppers)s::int[]) AS a(id, lower, upper)
        CROSS JOIN LATERAL (
            SELECT size FROM trackers_timeline WHERE id = a.id OFFSET 0
        ) t
        CROSS JOIN LATERAL (
            SELECT entry_id FROM trackers_timelineentry
            WHERE timeline_id = a.id AND dead_at IS NULL
            ORDER BY entry_id DESC OFFSET a.lower - 1 LIMIT 1
        ) e
        WHERE t.size > a.upper
    ),
    cut AS (
        DELETE FROM trackers_timelineentry e USING lowest l
        WHERE e.timeline_id = ANY(ARRAY[l.id]) AND e.entry_id < l.entry_id AND e.dead_at IS NULL
        RETURNING e.timeline_id
    )
    UPDATE trackers_timeline t SET size = t.size - c.entries
    FROM (SELECT timeline_id, count(*) AS entries FROM cut GROUP BY timeline_id) c
    WHERE t.id = ANY(ARRAY[c.timeline_id])
"""


def add_to_all(
    names: Sequence[str], entries: Sequence[Entry], *, bounds: Bounds | None = None
) -> None:
    """Add the entries to each of the timelines; entries and names are in order."""
    if names and entries:
        _add_entries(_ADD_TO_ALL, names, _entry_columns(entries), bounds=bounds)


def add_to_each(
    names: Sequence[str], entries: Sequence[Sequence[Entry]], *, bounds: Bounds | None = None
) -> None:
    """Add to each of the timelines its own entries; names and entries are in order."""
    if names:
        places = array(place for place, some in enumerate(entries, 1) for _ in some)
        each = _entry_columns([entry for some in entries for entry in some])
        _add_entries(_ADD_TO_EACH, names, {"places": places, **each}, bounds=bounds)


def _entry_columns(entries: Sequence[Entry]) -> dict[str, str]:
    """Array literals; an entry is formatted once, however often it occurs."""
    rows_by_entry = {id(entry): array_elements(entry) for entry in entries}
    each = [rows_by_entry[id(entry)] for entry in entries]
    names = ("ids", "secondaries", "metadata")
    return {name: "{" + ",".join([one[n] for one in each]) + "}" for n, name in enumerate(names)}


def _add_entries(
    statement: str, names: Sequence[str], entries: Mapping[str, str], *, bounds: Bounds | None
) -> None:
    least = bounds.upper if bounds else least_upper()
    given = {"names": texts(names), "upper": least, **entries}
    with cursor() as db:
        grown = db.execute(statement, given).fetchall()
    limits = {name: bounds or bounds_of(name) for name, _ in grown}
    full = sorted(name for name, size in grown if size > limits[name].upper)
    if full:
        # Outside of a transaction this commits by itself: readers may see a timeline beyond its
        # bound until then, and if the cut fails, the next append makes up for it.
        with transaction.atomic():
            locked = lock(full)
            cut([one.id for one in locked], [limits[one.name] for one in locked])


def cut(ids: Sequence[int], limits: Sequence[Bounds]) -> None:
    """Cut those of the timelines, which are locked, that are past their upper bound."""
    with cursor() as db:
        db.execute(
            _CUT,
            {
                "ids": array(ids),
                "lowers": array(one.lower for one in limits),
                "uppers": array(one.upper for one in limits),
            },
        )
