"""The oldest open snapshot: VACUUM can remove no row that died since it was taken.

A queue whose dead rows cannot be vacuumed gets slower by the minute, so the thing to warn about is
this, not the length of the queue.
"""

from __future__ import annotations

from dataclasses import dataclass

from tweetwatch.database import cursor

# Snapshots of other databases hold nothing back here, nor does an autovacuum. A superuser and
# members of pg_read_all_stats see all transactions, other roles only their own.
_OLDEST_SNAPSHOT = """
    SELECT extract(epoch FROM now() - xact_start)::float8, pid,
           coalesce(nullif(application_name, ''), usename, backend_type)
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xmin IS NOT NULL AND xact_start IS NOT NULL
      AND backend_type <> 'autovacuum worker' AND pid <> pg_backend_pid()
    ORDER BY xact_start LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Horizon:
    """How old the oldest snapshot is, in seconds, and whose; 0 when there is none."""

    seconds: float = 0.0
    pid: int | None = None
    who: str = ""


def horizon() -> Horizon:
    with cursor() as db:
        row = db.execute(_OLDEST_SNAPSHOT).fetchone()
    return Horizon(max(row[0], 0.0), row[1], row[2]) if row else Horizon()
