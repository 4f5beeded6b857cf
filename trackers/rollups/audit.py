"""Every hour: compare rollups with a recount, those that were counted longest ago first, and mend
them. Each is compared once a day while that takes less than the time of these tasks."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from trackers.rollups.recount import recount
from trackers.rollups.update import WORK, find_unknown, mark_changed
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_AUDITED_AFTER = timedelta(days=1)
_POSTS_PER_PIECE = 5_000
TAKE_OLDEST = statement(__file__, "take_oldest", most=_POSTS_PER_PIECE)
_DUE_AMONG = """
    SELECT quarter FROM trackers_rollupquarter
    WHERE quarter = ANY(%(quarters)s::int[]) AND due_at IS NOT NULL
"""


def audit_rollups(*, now: datetime, deadline: Deadline) -> int:
    """Mend what differs from a recount; return how many quarters did."""
    mended: list[int] = []

    def piece() -> int | None:
        while mark_changed(now=now):
            pass
        with cursor() as db:
            params = {"before": now - _AUDITED_AFTER}
            oldest = [quarter for (quarter,) in db.execute(TAKE_OLDEST, params)]
        if not oldest:
            return None
        differing = recount(oldest, now=now)
        if differing:
            # What changed while they were compared is no fault.
            while mark_changed(now=now):
                pass
            with cursor() as db:
                due = db.execute(_DUE_AMONG, {"quarters": list(differing)}).fetchall()
            mended.extend(differing.keys() - {quarter for (quarter,) in due})
        return len(oldest)

    worked: PieceWork = in_pieces(WORK, piece, left=lambda: 0, deadline=deadline)
    if mended:
        logger.warning("rollups of %d quarters of an hour were wrong, and are right", len(mended))
    if not worked.is_elsewhere:
        _find_unknown(now=now)
    return len(mended)


def _find_unknown(*, now: datetime) -> None:
    worked = in_pieces(
        WORK, lambda: find_unknown(now=now) or None, left=lambda: 0, deadline=Deadline.after(0)
    )
    if worked.rows:
        logger.warning("%d quarters of an hour had no rollups yet, and get them", worked.rows)
