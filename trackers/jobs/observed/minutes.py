"""Each queue's depth, age and throughput over time: a row a minute for a day, a row an hour for a
month.

figures.take ─ note ─> QueueMinute ─ keep_hours, once an hour ─> QueueHour ─ by_time ─> pages
The number of rows depends on the number of queues alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.jobs.statistics import QueueSummary
from tweetwatch.database import cursor

_MINUTES_COVER, _HOURS_COVER = timedelta(days=1), timedelta(days=30)


# Writes nothing while the minute's row already has these figures or larger ones.
_RECORD_QUEUE_MINUTE = """
    INSERT INTO trackers_queueminute AS one
        (queue, minute, due, oldest_due_seconds, in_flight)
    VALUES (%(queue)s, date_trunc('minute', now()), %(due)s, %(oldest)s, %(in_flight)s)
    ON CONFLICT (queue, minute) DO UPDATE SET
        due = greatest(one.due, excluded.due),
        oldest_due_seconds = greatest(one.oldest_due_seconds, excluded.oldest_due_seconds),
        in_flight = greatest(one.in_flight, excluded.in_flight)
    WHERE excluded.due > one.due OR excluded.oldest_due_seconds > one.oldest_due_seconds
       OR excluded.in_flight > one.in_flight
    RETURNING xmax = 0
"""

# The minutes just over, whose last batches may have been counted late.
_ADD_THROUGHPUT = """
    UPDATE trackers_queueminute one SET measured = done.measured, failed = done.failed
    FROM (
        SELECT over.minute, coalesce(sum(t.measured), 0) AS measured,
               coalesce(sum(t.failed), 0) AS failed
        FROM generate_series(1, 3) AS back
        CROSS JOIN LATERAL (
            SELECT date_trunc('minute', now()) - back * interval '1 minute' AS minute) AS over
        LEFT JOIN trackers_queuecounters t ON t.minute = over.minute AND t.queue = %(queue)s
        GROUP BY over.minute
    ) AS done
    WHERE one.queue = %(queue)s AND one.minute = done.minute
"""

# Whole hours of the last day, again each time: one may have been written before it was over.
_SUM_UP_HOURS = """
    INSERT INTO trackers_queuehour AS one
        (queue, hour, due, oldest_due_seconds, in_flight, measured, failed)
    SELECT queue, date_trunc('hour', minute), max(due), max(oldest_due_seconds),
           max(in_flight), sum(measured), sum(failed)
    FROM trackers_queueminute
    WHERE minute >= date_trunc('hour', now()) - interval '24 hours'
      AND minute < date_trunc('hour', now())
    GROUP BY 1, 2
    ON CONFLICT (queue, hour) DO UPDATE SET
        due = excluded.due, oldest_due_seconds = excluded.oldest_due_seconds,
        in_flight = excluded.in_flight, measured = excluded.measured, failed = excluded.failed
"""
# A whole hour longer than is shown, or the first of its hours would lose minutes.
_PRUNE_QUEUE_MINUTES = """
    DELETE FROM trackers_queueminute WHERE minute < date_trunc('hour', now()) - interval '25 hours'
"""
_PRUNE_QUEUE_HOURS = "DELETE FROM trackers_queuehour WHERE hour < now() - interval '31 days'"

# Up to the last minute, or hour, that is over: the current one is still incomplete.
_BY_TIME = """
    SELECT queue, date_bin(%(step)s::interval, {at}, 'epoch'::timestamptz), max(due),
           max(oldest_due_seconds), sum(measured)::bigint, sum(failed)::bigint
    FROM {table}
    WHERE {at} >= date_bin(%(step)s::interval, now() - %(over)s::interval, 'epoch'::timestamptz)
      AND {at} < date_trunc('{unit}', now())
    GROUP BY 1, 2 ORDER BY 1, 2
"""
BY_MINUTES = _BY_TIME.format(table="trackers_queueminute", at="minute", unit="minute")
_BY_HOURS = _BY_TIME.format(table="trackers_queuehour", at="hour", unit="hour")


@dataclass(frozen=True, slots=True)
class QueueSpan:
    """A queue over a time: the most keys that were due, the longest wait, and what was done."""

    at: datetime  # it begins then
    due: int
    oldest_due_seconds: float
    measured: int | None  # None where nobody counted them
    failed: int | None  # the same


def record_queue_minute(queue: str, summary: QueueSummary) -> None:
    """Into this minute's row. With its first figures, also what was done in the minutes before."""
    params = {
        "queue": queue,
        "due": summary.due,
        "oldest": summary.oldest_due_seconds,
        "in_flight": summary.in_flight,
    }
    with cursor() as db:
        written = db.execute(_RECORD_QUEUE_MINUTE, params).fetchone()
        if written and written[0]:
            db.execute(_ADD_THROUGHPUT, {"queue": queue})


def sum_up_hours() -> None:
    """Sum up the hours that are over; delete minutes after a day and hours after a month."""
    with cursor() as db:
        for statement in (_SUM_UP_HOURS, _PRUNE_QUEUE_MINUTES, _PRUNE_QUEUE_HOURS):
            db.execute(statement)


def by_time(*, over: timedelta, step: timedelta) -> dict[str, list[QueueSpan]]:
    """Of each queue, the oldest first, without stretches in which nobody looked. Over more than a
    day the hours are read, so `step` must be whole hours then."""
    spans_by_queue: dict[str, list[QueueSpan]] = {}
    with cursor() as db:
        statement = BY_MINUTES if over <= _MINUTES_COVER else _BY_HOURS
        for queue, *row in db.execute(statement, {"over": over, "step": step}):
            spans_by_queue.setdefault(queue, []).append(QueueSpan(*row))
    return spans_by_queue
