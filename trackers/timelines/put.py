"""Replaces all entries of a timeline: when it is set, or restored.

put ─> remove_older ─> recount, on timelines whose rows are locked (`locks`). Tombstones stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from trackers.timelines.entries import Entry, metadata_of
from trackers.timelines.locks import Locked
from tweetwatch.database import array, compact_sql, cursor
from tweetwatch.statements import statement

Put = tuple[int, int, Entry, datetime | None]

# The timelines are locked. An entry that is dead, or is put as dead, has no content. A tombstone
# keeps its `seq`: otherwise, for a `get_since` from it, what is put now would not count as newer.
_PUT_ENTRIES = compact_sql("""
    INSERT INTO trackers_timelineentry AS e
        (timeline_id, entry_id, seq, secondary, metadata, dead_at)
    SELECT * FROM unnest(
        %(timelines)s::bigint[], %(ids)s::bigint[], %(seqs)s::bigint[], %(secondaries)s::bigint[],
        %(metadata)s::bytea[], %(dead_at)s::timestamptz[])
    ON CONFLICT (timeline_id, entry_id) DO UPDATE SET
        seq = CASE WHEN e.dead_at IS NOT NULL AND excluded.dead_at IS NULL THEN e.seq
                   ELSE excluded.seq END,
        dead_at = coalesce(e.dead_at, excluded.dead_at),
        secondary = CASE WHEN e.dead_at IS NULL THEN excluded.secondary END,
        metadata = CASE WHEN e.dead_at IS NULL THEN excluded.metadata END
""")

# The timelines are locked. Entries that were not put again still have an older `seq`.
_REMOVE_OLDER = """
    DELETE FROM trackers_timelineentry e
    USING unnest(%(timelines)s::bigint[], %(seqs)s::bigint[]) AS a(id, seq)
    WHERE e.timeline_id = ANY(ARRAY[a.id]) AND e.seq <= a.seq AND e.dead_at IS NULL
"""

_RECOUNT = statement(__file__, "recount")


def put_entries(entries: Sequence[Put]) -> None:
    """Put entries, each with its timeline's id, its `seq`, and when it was deleted, if it was."""
    with cursor() as db:
        db.execute(
            _PUT_ENTRIES,
            {
                "timelines": array(timeline for timeline, *_ in entries),
                "ids": array(entry.id for _, _, entry, _ in entries),
                "seqs": array(seq for _, seq, _, _ in entries),
                "secondaries": array(entry.secondary for _, _, entry, _ in entries),
                "metadata": metadata_of(entry for _, _, entry, _ in entries),
                "dead_at": _times(dead_at for *_, dead_at in entries),
            },
        )


def remove_older(locked: Sequence[Locked]) -> None:
    """Delete live entries that were not put since these timelines were locked."""
    with cursor() as db:
        db.execute(
            _REMOVE_OLDER,
            {
                "timelines": array(one.id for one in locked),
                "seqs": array(one.seq for one in locked),
            },
        )


def recount(
    locked: Sequence[Locked],
    seqs: Sequence[int],
    *,
    live: Sequence[bool] | None = None,
    read_at: Sequence[datetime | None] | None = None,
) -> list[int]:
    """Update the timelines after a put, up to these `seqs`; return their sizes, in this order."""
    params = {
        "timelines": array(one.id for one in locked),
        "seqs": array(seqs),
        "live": array(live or [True] * len(locked)),
        "read_at": _times(read_at or [None] * len(locked)),
    }
    with cursor() as db:
        sizes = dict(db.execute(_RECOUNT, params).fetchall())
    return [sizes[one.id] for one in locked]


def _times(values: Iterable[datetime | None]) -> str:
    """timestamptz[]"""
    return array(f'"{one.isoformat()}"' if one else None for one in values)
