"""Expires timelines that nobody reads, and deletes old tombstones.

A timeline that expires or is dropped loses its entries but keeps its tombstones, whose age counts
from then on. Once these are gone too, its row is deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta

from django.conf import settings
from django.db import transaction

from trackers.timelines.entries import checked_name, checked_wait
from trackers.timelines.locks import lock
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count

# How many timelines, and how many tombstones, go in one transaction.
_TIMELINES_AT_ONCE = 50
_TOMBSTONES_AT_ONCE = 5_000

# Continues where the last piece ended, so that timelines read late on the last day, which are not
# idle yet, are looked at only once. Uses the index `timeline_read`.
_IDLE = f"""
    SELECT name, read_on, id FROM trackers_timeline
    WHERE live
      AND read_on <= ((statement_timestamp() - %(idle)s::interval) AT TIME ZONE 'UTC')::date
      AND last_read_at <= statement_timestamp() - %(idle)s::interval
      AND (read_on, id) > (%(day)s::date, %(id)s::bigint)
    ORDER BY read_on, id LIMIT {_TIMELINES_AT_ONCE}
"""

# The timelines are locked. One that was read or set while this waited for the lock stays. OFFSET 0:
# they are found by their ids, not by the index of live ones.
_STILL_IDLE = """
    SELECT id FROM (
        SELECT * FROM trackers_timeline WHERE id = ANY(%(ids)s::bigint[]) OFFSET 0
    ) t
    WHERE live AND last_read_at <= statement_timestamp() - %(idle)s::interval
"""

# The timelines are locked.
_EMPTY = """
    WITH gone AS (
        DELETE FROM trackers_timelineentry e USING unnest(%(ids)s::bigint[]) a(id)
        WHERE e.timeline_id = ANY(ARRAY[a.id]) AND e.dead_at IS NULL
    ),
    kept AS (
        UPDATE trackers_timelineentry e SET dead_at = statement_timestamp()
        FROM unnest(%(ids)s::bigint[]) a(id)
        WHERE e.timeline_id = ANY(ARRAY[a.id]) AND e.dead_at IS NOT NULL
    )
    UPDATE trackers_timeline SET live = false, size = 0 WHERE id = ANY(%(ids)s::bigint[])
"""

# The timelines are locked. A scalar subquery, so that each timeline is probed by itself.
_PRUNE_TIMELINES = """
    DELETE FROM trackers_timeline t
    WHERE id = ANY(%(ids)s::bigint[]) AND NOT live
      AND (SELECT entry_id FROM trackers_timelineentry WHERE timeline_id = t.id LIMIT 1) IS NULL
"""

# Uses the index `timelineentry_dead`.
_OLDEST_DEAD = f"""
    SELECT t.name, o.timeline_id, o.entry_id FROM (
        SELECT timeline_id, entry_id FROM trackers_timelineentry
        WHERE dead_at <= statement_timestamp() - %(kept)s::interval
        ORDER BY dead_at LIMIT {_TOMBSTONES_AT_ONCE}
    ) o CROSS JOIN LATERAL (
        SELECT name FROM trackers_timeline WHERE id = o.timeline_id OFFSET 0
    ) t
"""

# The timelines are locked. One that expired while this waited for the lock keeps its tombstones.
_RETIRE = """
    DELETE FROM trackers_timelineentry e
    USING unnest(%(timelines)s::bigint[], %(ids)s::bigint[]) AS a(timeline_id, entry_id)
    WHERE e.timeline_id = ANY(ARRAY[a.timeline_id]) AND e.entry_id = ANY(ARRAY[a.entry_id])
      AND e.dead_at <= statement_timestamp() - %(kept)s::interval
"""

# Bounded: a backlog of this size need not be known exactly.
_IDLE_LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_timeline
        WHERE live
          AND read_on <= ((statement_timestamp() - %(idle)s::interval) AT TIME ZONE 'UTC')::date
          AND last_read_at <= statement_timestamp() - %(idle)s::interval LIMIT 100000) left_over
"""


def expire(idle: timedelta, *, tombstones: timedelta | None = None) -> int:
    """Expire the timelines that nobody has read or set for `idle`; return how many. Also deletes
    tombstones older than `tombstones`, by default TIMELINE_TOMBSTONE_DAYS."""
    idle = checked_wait(idle, of="How long nobody has read a timeline")
    kept = _kept_for() if tombstones is None else tombstones
    kept = checked_wait(kept, of="How long tombstones are kept")
    expired = _all_of(_expiring(idle))
    _all_of(_retiring(kept))
    return expired


def _all_of(piece: Callable[[], int | None]) -> int:
    done = 0
    while True:
        with transaction.atomic():
            rows = piece()
        if rows is None:
            return done
        done += rows


def expire_in_pieces(*, idle: timedelta, deadline: Deadline) -> tuple[PieceWork, PieceWork]:
    """The same as a periodic task: by one process at a time, until its time is up."""

    def left() -> int:
        return select_count(_IDLE_LEFT, {"idle": idle})

    timelines = in_pieces("unread timelines", _expiring(idle), left=left, deadline=deadline)
    retire = _retiring(_kept_for())
    return timelines, in_pieces("tombstones", retire, left=lambda: 1, deadline=deadline)


def _kept_for() -> timedelta:
    return timedelta(days=settings.TIMELINE_TOMBSTONE_DAYS)


def _expiring(idle: timedelta) -> Callable[[], int | None]:
    """A function that expires some at each call, in a transaction: how many; None at the end."""
    after = (date.min, 0)

    def piece() -> int | None:
        nonlocal after
        with cursor() as db:
            day, id = after
            rows = db.execute(_IDLE, {"idle": idle, "day": day, "id": id}).fetchall()
            if not rows:
                return None
            after = rows[-1][1:]
            ids = array(one.id for one in lock(sorted(name for name, *_ in rows)))
            idle_still = db.execute(_STILL_IDLE, {"ids": ids, "idle": idle}).fetchall()
        _delete_entries([id for (id,) in idle_still])
        return len(idle_still)

    return piece


def _retiring(kept: timedelta) -> Callable[[], int | None]:
    """A function that deletes some tombstones at each call, in a transaction; None at the end."""

    def piece() -> int | None:
        with cursor() as db:
            rows = db.execute(_OLDEST_DEAD, {"kept": kept}).fetchall()
            if not rows:
                return None
            locked = lock(sorted({name for name, *_ in rows}))
            timelines, ids = (array(row[n] for row in rows) for n in (1, 2))
            db.execute(_RETIRE, {"timelines": timelines, "ids": ids, "kept": kept})
            retired = db.rowcount
            db.execute(_PRUNE_TIMELINES, {"ids": array(one.id for one in locked)})
        return retired

    return piece


def drop(name: str) -> None:
    """Expire it now, if it is live: its entries go, its tombstones stay."""
    with transaction.atomic():
        _delete_entries([one.id for one in lock([checked_name(name)]) if one.live])


def _delete_entries(ids: Sequence[int]) -> None:
    """Delete the entries of these timelines, which are locked; their tombstones stay."""
    if ids:
        with cursor() as db:
            db.execute(_EMPTY, {"ids": array(ids)})
            db.execute(_PRUNE_TIMELINES, {"ids": array(ids)})
