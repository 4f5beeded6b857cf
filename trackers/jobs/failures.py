"""Failed tasks, which django-q2's own table keeps for a while for the admin to show."""

from __future__ import annotations

from datetime import datetime, timedelta

from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces

_KEEP_FAILURES_FOR = timedelta(days=14)

# Uses our index on django-q2's table. Rows are locked before they are deleted, and passed as an
# array: for a join the planner would read the whole table. The limit is a literal, since for a
# parameter the planner would have to expect any number of rows.
PRUNE_FAILURES = """
    DELETE FROM django_q_task WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM django_q_task
        WHERE NOT success AND stopped < %(before)s ORDER BY stopped LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""

# Bounded: a backlog of this size need not be known exactly.
_COUNT_OLD_FAILURES = """
    SELECT count(*) FROM (
        SELECT FROM django_q_task WHERE NOT success AND stopped < %(before)s LIMIT 100000) left_over
"""


def prune_failures(*, now: datetime, deadline: Deadline) -> PieceWork:
    """Delete the failures of tasks that ended longer than KEPT_FOR ago."""
    given = {"before": now - _KEEP_FAILURES_FOR}
    return delete_in_pieces(
        "failed tasks", PRUNE_FAILURES, left=_COUNT_OLD_FAILURES, params=given, deadline=deadline
    )
