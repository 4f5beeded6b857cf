"""Whether a batch is ready, and if not, when it is worth looking again."""

from __future__ import annotations

from trackers.jobs.batch import THE_HEAD, Low
from trackers.jobs.tables import on
from tweetwatch.database import cursor

# Seconds until a batch is ready, 0 or less: now. Null: nothing is scheduled, or it is paused.
# Ready: as many are due as fill a request, or the oldest has waited for buffer_ttl. However many
# wait, it reads the first bucket of the index and those that fill a request. The lower bound skips
# the dead rows that earlier claims left at the head.
READY_IN = """
    SELECT CASE WHEN n.paused THEN NULL ELSE extract(epoch FROM greatest(
               n.held_until,
               oldest.due_at,
               least(filling.due_at, oldest.due_at + n.buffer_ttl)
           ) - now())::float8 END
    FROM trackers_namespace n
    CROSS JOIN LATERAL (
        SELECT due_at FROM {bucket} WHERE due_at >= %(low)s::timestamptz
        ORDER BY due_at LIMIT 1
    ) oldest
    LEFT JOIN LATERAL (
        SELECT due_at
        FROM (
            SELECT due_at, sum(cardinality(keys)) OVER (
                       ORDER BY due_at ROWS UNBOUNDED PRECEDING) AS upto
            FROM (
                SELECT due_at, keys FROM {bucket} WHERE due_at >= %(low)s::timestamptz
                ORDER BY due_at LIMIT least(n.batch_size, {most_keys}, {request_keys})
            ) AS head
        ) AS line
        WHERE upto >= least(n.batch_size, {most_keys}, {request_keys})
        ORDER BY upto LIMIT 1
    ) filling ON true
    WHERE n.name = %(namespace)s
"""


def ready_in(namespace: str, *, low: Low = THE_HEAD) -> float | None:
    """Seconds until a batch is ready, 0 or less: now; None: nothing waits, or it is paused."""
    with cursor() as db:
        found = db.execute(
            on(namespace, READY_IN), {"namespace": namespace, "low": low.due}
        ).fetchone()
    return None if found is None else found[0]
