"""Tasks that failed, in django-q2's own table: kept for a while, for the admin to show."""

from __future__ import annotations

from datetime import datetime, timedelta

from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, Worked, count, in_pieces

KEPT_FOR = timedelta(days=14)

# By an index of ours on django-q2's table (migration 0011). The places are locked before they are
# deleted; in an array, since the planner would rather read the whole table than join to them. The
# limit is a literal: one that the planner does not know might as well be all of them.
FORGET = """
    DELETE FROM django_q_task WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM django_q_task
        WHERE NOT success AND stopped < %(before)s ORDER BY stopped LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""

# Bounded: whoever is so far behind need not know it exactly.
LEFT = """
    SELECT count(*) FROM (
        SELECT FROM django_q_task WHERE NOT success AND stopped < %(before)s LIMIT 100000) left_over
"""


def forget_failures(*, now: datetime, deadline: Deadline) -> Worked:
    """Forget the failures of tasks that ended so long ago."""
    given = {"before": now - KEPT_FOR}

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(FORGET, given).rowcount or None

    return in_pieces("failed tasks", piece, left=lambda: count(LEFT, given), deadline=deadline)
