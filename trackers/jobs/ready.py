"""Whether a batch is ready, and if not, when it is worth looking again."""

from __future__ import annotations

from trackers.jobs.batch import THE_HEAD, Low
from trackers.jobs.tables import on, queue_statement
from tweetwatch.database import cursor

READY_IN = queue_statement(__file__, "ready_in")


def ready_in(queue: str, *, low: Low = THE_HEAD) -> float | None:
    """Seconds until a batch is ready, 0 or less: now; None: nothing waits, or it is paused."""
    with cursor() as db:
        row = db.execute(on(queue, READY_IN), {"queue": queue, "low": low.due}).fetchone()
    return None if row is None else row[0]
