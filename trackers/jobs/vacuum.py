"""A periodic task also vacuums the queues, as large tables may keep autovacuum busy for long."""

from __future__ import annotations

from django.db import connection
from psycopg import sql

from trackers.jobs.models import job_classes
from tweetwatch.database import cursor

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
