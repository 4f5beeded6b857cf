"""What keeps the tables of the queue small: a vacuum of its own, and no old failures."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection
from psycopg import sql

from trackers.jobs.models import job_classes
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces

# Fewer dead rows do not slow down a claim noticeably.
_MIN_DEAD_ROWS = 1000
_COUNT_DEAD_ROWS = """
    SELECT coalesce(max(n_dead_tup), 0) FROM pg_stat_user_tables
    WHERE relid = %(table)s::regclass
"""
# SKIP_LOCKED: passes over a table that autovacuum is working on.
_VACUUM = "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, PROCESS_TOAST OFF) {table}"


def vacuum() -> list[str]:
    """Vacuum queues with many dead rows; return their names. In a transaction, do nothing."""
    if connection.in_atomic_block:
        return []
    done = []
    for name, job in job_classes().items():
        for model in (job, job.bucket):
            with cursor() as db:
                table = model._meta.db_table
                row = db.execute(_COUNT_DEAD_ROWS, {"table": table}).fetchone()
                if row and row[0] >= _MIN_DEAD_ROWS:
                    vacuum = sql.SQL(_VACUUM).format(table=sql.Identifier(table))
                    db.execute(vacuum, prepare=False)
                    done.append(name)
    return sorted(set(done))


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
