"""Every minute: the rollups of the quarters of an hour whose tweets changed.

Uncounted ─> their quarters are due, busy ones after a while ─> recounted, the newest first
The cost of a minute depends on how many quarters changed and how many posts they have. By waiting
8 ms a post, and a quarter of an hour at most, ten quarters that are busy at once (posts, and those
of an hour, a day and a week ago) take a tenth of a processor at any number of tweets a second up to
a hundred and twenty posts a second, and then grow with them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings

from trackers.rollups.recount import PLANNED_FOR_RANGES, first_id_of, quarter_at, recount
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.pack import retired_before
from trackers.tweets.uncounted import LOST_WITH_IT
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces, in_pieces, select_count
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

WORK = "rollups"
# Per piece: rows of `Uncounted`, and posts; a quarter that was never counted is taken for so many.
_STATEMENTS_PER_PIECE, _POSTS_PER_PIECE, _POSTS_ASSUMED = 200, 5_000, 1_000
_WAIT_PER_POST, _LONGEST_WAIT = timedelta(milliseconds=8), timedelta(minutes=15)

_MARK_CHANGED = statement(__file__, "mark_changed")
TAKE_DUE = statement(__file__, "take_due", assumed=_POSTS_ASSUMED, most=_POSTS_PER_PIECE)
FIND_UNKNOWN = statement(__file__, "find_unknown")
_IS_LOST = "SELECT NOT EXISTS (SELECT FROM trackers_uncounted WHERE id = %(id)s)"
_SHOW_PRESENT = "INSERT INTO trackers_uncounted (id, ids) VALUES (%(id)s, '{}')"
_MAKE_ALL_DUE = "UPDATE trackers_rollupquarter SET due_at = %(now)s WHERE due_at IS NULL"
_COUNT_DUE = """
    SELECT count(*) FROM trackers_rollupquarter
    WHERE due_at <= %(now)s OR due_at > %(now)s + %(longest)s::interval
"""
_RETIRE = """
    DELETE FROM trackers_rollup WHERE ctid = ANY(ARRAY(
        SELECT of.ctid FROM generate_series(0, 6) AS of_kind(kind) CROSS JOIN LATERAL (
            SELECT ctid FROM trackers_rollup
            WHERE kind = of_kind.kind AND quarter < %(before)s ORDER BY quarter LIMIT 1000) of))
"""
_TO_RETIRE = """
    SELECT count(*) FROM generate_series(0, 6) AS of_kind(kind) CROSS JOIN LATERAL (
        SELECT FROM trackers_rollup
        WHERE kind = of_kind.kind AND quarter < %(before)s LIMIT 20000) of
"""
_RETIRE_QUARTERS = "DELETE FROM trackers_rollupquarter WHERE quarter < %(before)s"


def update_rollups(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Bring the rollups up to date; `rows` of the result counts quarters."""

    def piece() -> int | None:
        is_marked = mark_changed(now=now)
        due = _take_due(now=now)
        if due:
            recount(due, now=now)
        return len(due) if due or is_marked else None

    def left() -> int:
        return select_count(_COUNT_DUE, {"now": now, "longest": _LONGEST_WAIT})

    worked = in_pieces(WORK, piece, left=left, deadline=deadline)
    if worked.left:
        logger.warning("rollups are late: %d quarters of an hour wait", worked.left)
    return worked


def mark_changed(*, now: datetime) -> int:
    """Make the quarters of changed tweets due, of at most some statements; return of how many.
    After a crash, which emptied their table, all quarters. In a transaction of WORK."""
    with cursor() as db:
        if (db.execute(_IS_LOST, {"id": LOST_WITH_IT}).fetchone() or [True])[0]:
            if db.execute(_MAKE_ALL_DUE, {"now": now}).rowcount:
                logger.warning("which tweets changed was lost: all rollups are made anew")
            find_unknown(now=now)
            db.execute(_SHOW_PRESENT, {"id": LOST_WITH_IT})
        params = {
            "most": _STATEMENTS_PER_PIECE, "since": first_id_of(_first_kept(now)), "now": now,
            "wait": _WAIT_PER_POST, "longest": _LONGEST_WAIT, "present": LOST_WITH_IT,
        }  # fmt: skip
        row = db.execute(_MARK_CHANGED, params).fetchone()
    return row[0] if row else 0


def find_unknown(*, now: datetime) -> int:
    """Make those quarters due that have tweets and were never counted; return how many."""
    with cursor() as db:
        params = {"since": first_id_of(_first_kept(now)), "now": now}
        for choice in PLANNED_FOR_RANGES[:1]:
            db.execute(choice)
        return db.execute(FIND_UNKNOWN, params).rowcount


def _take_due(*, now: datetime) -> Sequence[int]:
    params = {"now": now, "longest": _LONGEST_WAIT}
    with cursor() as db:
        return [quarter for (quarter,) in db.execute(TAKE_DUE, params)]


def _first_kept(now: datetime) -> int:
    """Rollups of quarters before this one are not kept, as their checkpoints."""
    days = settings.SAMPLE_RETENTION_DAYS
    return quarter_at(retired_before(now, timedelta(days=days)) - AGES[-1]) if days else 0


def retire_rollups(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Delete the rollups whose tweets' checkpoints are past the retention."""
    params = {"before": _first_kept(now)}
    worked = delete_in_pieces(
        "rollup retention", _RETIRE, left=_TO_RETIRE, params=params, deadline=deadline
    )
    if worked.is_done:
        with cursor() as db:
            db.execute(_RETIRE_QUARTERS, params)
    return worked
