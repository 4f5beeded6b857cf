"""Statistics of a queue: what waits, how late it is, what was done.

a cluster, every few seconds ─> a row of statistics for each queue ─> pages, status, /metrics
Up to MAX_COUNTED_KEYS are counted each time. A longer queue is also counted whole, and the longer
that takes, the longer the pause after it. While no cluster runs, each reader makes the bounded
counts itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import DateTimeField, Func, Q

from trackers.jobs.models import job_classes
from trackers.jobs.observed.models import QueueCounters, QueueStatistics
from trackers.jobs.tables import on, queue_statement
from tweetwatch.database import cursor

# A bounded count stops at this many keys.
MAX_COUNTED_KEYS = 10_000
# How often statistics are taken, by whichever cluster is first.
TAKEN_EVERY = timedelta(seconds=2)
# An older row is from a cluster that has ended, or whose count takes very long.
FRESH_FOR = timedelta(seconds=15)
# The pause after a whole count, as a multiple of the time that it took: two percent of a core.
PAUSE_FACTOR = 50

COUNT_BOUNDED = queue_statement(__file__, "count_bounded")

# The database's time, as in the SQL of the queue.
DATABASE_NOW = Func(function="now", template="%(function)s()", output_field=DateTimeField())

ONE_PROCESS = "SET LOCAL max_parallel_workers_per_gather = 0"

# One scan of each table. The rows of claimed jobs still say that they are due: subtract these.
_COUNT_WHOLE = """
    SELECT job.scheduled, greatest(0, job.due - bucket.claimed), bucket.claimed
    FROM (
        SELECT count(*) AS scheduled, count(*) FILTER (WHERE due_at <= now()) AS due FROM {job}
    ) AS job, (
        SELECT coalesce(sum(cardinality(keys)), 0) AS claimed FROM {bucket}
        WHERE lease IS NOT NULL AND due_at > now()
    ) AS bucket
"""

# The last sixty seconds from rows per minute: all of this minute, and of the last one the share
# that is missing, as if it were spread evenly.
_CHECKED_LAST_MINUTE = """
    WITH share AS (SELECT 1 - extract(second FROM now()) / 60.0 AS of_last,
                          date_trunc('minute', now()) AS this)
    SELECT coalesce(
        sum(t.measured * CASE WHEN t.minute = share.this THEN 1 ELSE share.of_last END), 0)
    FROM share LEFT JOIN trackers_queuecounters t
      ON t.queue = %(queue)s AND t.minute >= share.this - interval '1 minute'
"""

_LATENESS = """
    SELECT place::int, sum(count::int)::int
    FROM trackers_queuecounters t,
         jsonb_array_elements_text(t.late) WITH ORDINALITY AS late(count, place)
    WHERE t.queue = %(queue)s AND t.minute >= now() - interval '5 minutes'
    GROUP BY place ORDER BY place
"""

_BATCH_FILL = """
    SELECT sum(asked + failed)::float8 / nullif(sum(batches), 0)
    FROM trackers_queuecounters
    WHERE queue = %(queue)s AND minute >= now() - interval '5 minutes'
"""

_BY_MINUTE = """
    SELECT minute, sum(batches)::int, sum(asked)::int, sum(measured)::int, sum(changed)::int,
           sum(failed)::int
    FROM trackers_queuecounters
    WHERE queue = %(queue)s AND minute > now() - %(minutes)s * interval '1 minute'
    GROUP BY minute ORDER BY minute
"""

_PRUNE_COUNTERS = "DELETE FROM trackers_queuecounters WHERE minute < now() - interval '2 days'"


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """Statistics of a queue; lateness and batch fill over five minutes, None without a batch.

    Up to MAX_COUNTED_KEYS the counts are exact as of `taken_at`. Above, `due`, `in_flight` and
    `scheduled` are those of the whole count at `counted_at`; if that is None, lower bounds or an
    estimate.
    """

    due: int
    oldest_due_seconds: float
    in_flight: int
    scheduled: int
    isolated: int
    checked_last_minute: int
    lateness_p50_seconds: float | None
    lateness_p99_seconds: float | None
    batch_fill: float | None
    oldest_urgent_seconds: float
    taken_at: datetime
    counted_at: datetime | None = None

    @property
    def is_cut_off(self) -> bool:
        """There are more keys than a bounded count reaches."""
        return self.scheduled >= MAX_COUNTED_KEYS


@dataclass(frozen=True, slots=True)
class BoundedCount:
    """What `count_bounded` saw."""

    at: datetime
    due: int
    oldest_due_seconds: float
    in_flight: int
    walked: int  # how many keys it visited to find those in flight
    isolated: int
    scheduled: int
    estimate: int
    oldest_urgent_seconds: float


@dataclass(frozen=True, slots=True)
class RecentCounters:
    """What the counters say about the last minutes."""

    checked_last_minute: int
    lateness_p50_seconds: float | None
    lateness_p99_seconds: float | None
    batch_fill: float | None


@dataclass(frozen=True, slots=True)
class MinuteCounters:
    minute: datetime
    batches: int
    asked: int
    measured: int
    changed: int
    failed: int


def queue_summary(queue: str) -> QueueSummary:
    """Those that a cluster last took; if none takes them, as they are now."""
    return queue_summaries(queue)[queue]


def queue_summaries(*names: str) -> dict[str, QueueSummary]:
    """By name; in one statement where a cluster takes them."""
    rows = QueueStatistics.objects.annotate(now=DATABASE_NOW).in_bulk(names)
    summaries = {}
    for name in names:
        row = rows.get(name)
        if row and row.taken_at and row.now - row.taken_at <= FRESH_FOR:
            kept = {field.name: getattr(row, field.name) for field in fields(QueueSummary)}
            summaries[name] = QueueSummary(**kept)
        else:
            summaries[name] = _summary_of(
                count_bounded(name), _recent_counters(name), row or QueueStatistics()
            )
    return summaries


def record_summary(queue: str, *, then: Callable[[str, QueueSummary], None] | None = None) -> bool:
    """Write the statistics for all readers; False when another cluster does, or just did.

    A queue of more than MAX_COUNTED_KEYS is counted whole first, unless the last such count is too
    recent. `then` gets them in the same transaction, so no two clusters are in it at once.
    """
    QueueStatistics.objects.get_or_create(pk=queue)
    with transaction.atomic():
        # Lock: this row alone. Skip it if it is locked: another cluster is taking them.
        row = (
            QueueStatistics.objects.select_for_update(skip_locked=True)
            .filter(Q(taken_at=None) | Q(taken_at__lte=DATABASE_NOW - TAKEN_EVERY), pk=queue)
            .first()
        )
        if row is None:
            return False
        seen = count_bounded(queue)
        if seen.scheduled >= MAX_COUNTED_KEYS and row.may_be_counted(seen.at, pauses=PAUSE_FACTOR):
            _count_whole(row, at=seen.at)
        summary = _summary_of(seen, _recent_counters(queue), row)
        for field in fields(summary):
            setattr(row, field.name, getattr(summary, field.name))
        row.save()
        if then:
            then(queue, summary)
    return True


def count_bounded(queue: str) -> BoundedCount:
    params = {
        "queue": queue,
        "table": job_classes()[queue]._meta.db_table,
        "most": MAX_COUNTED_KEYS,
    }
    with cursor() as db:
        row = db.execute(on(queue, COUNT_BOUNDED), params).fetchone()
    assert row is not None
    return BoundedCount(*row)


def _count_whole(row: QueueStatistics, *, at: datetime) -> None:
    """Count the whole queue into its row, without parallel workers in the server."""
    began = time.monotonic()
    with cursor() as db:
        db.execute(ONE_PROCESS)
        counts = db.execute(on(row.queue, _COUNT_WHOLE)).fetchone()
    assert counts is not None
    row.whole_scheduled, row.whole_due, row.whole_in_flight = counts
    row.whole_at, row.whole_took = at, timedelta(seconds=time.monotonic() - began)


def _recent_counters(queue: str) -> RecentCounters:
    params = {"queue": queue}
    with cursor() as db:
        checked = db.execute(_CHECKED_LAST_MINUTE, params).fetchone()
        late: list[tuple[int, int]] = db.execute(_LATENESS, params).fetchall()
        fill = db.execute(_BATCH_FILL, params).fetchone()
    assert checked is not None
    assert fill is not None
    return RecentCounters(round(checked[0]), quantile(late, 0.5), quantile(late, 0.99), fill[0])


def _summary_of(seen: BoundedCount, recent: RecentCounters, row: QueueStatistics) -> QueueSummary:
    """What was seen, and where that was cut off, the row's whole count instead."""
    cut_off = seen.scheduled >= MAX_COUNTED_KEYS
    whole = row.whole_scheduled if row.whole_at else seen.estimate
    return QueueSummary(
        due=seen.due if seen.due < MAX_COUNTED_KEYS else max(MAX_COUNTED_KEYS, row.whole_due),
        oldest_due_seconds=seen.oldest_due_seconds,
        oldest_urgent_seconds=seen.oldest_urgent_seconds,
        in_flight=(
            seen.in_flight
            if seen.walked < MAX_COUNTED_KEYS
            else max(seen.in_flight, row.whole_in_flight)
        ),
        scheduled=max(MAX_COUNTED_KEYS, whole) if cut_off else seen.scheduled,
        isolated=seen.isolated,
        taken_at=seen.at,
        counted_at=row.whole_at if cut_off else None,
        checked_last_minute=recent.checked_last_minute,
        lateness_p50_seconds=recent.lateness_p50_seconds,
        lateness_p99_seconds=recent.lateness_p99_seconds,
        batch_fill=recent.batch_fill,
    )


def quantile(counts: list[tuple[int, int]], share: float) -> float | None:
    """The upper bound of the lateness class in which this share is reached; None without counts.

    `counts`: (class, how many), in order; classes are those of `QueueCounters.LATENESS`, from 1.
    """
    bounds = QueueCounters.LATENESS
    total = sum(count for _, count in counts)
    reached = 0
    for place, count in counts:
        reached += count
        if total and reached >= share * total:
            return bounds[min(place, len(bounds)) - 1]
    return None


def by_minute(queue: str, *, minutes: int = 60) -> list[MinuteCounters]:
    """What was done in each of the last minutes, without those in which nothing was."""
    with cursor() as db:
        rows = db.execute(_BY_MINUTE, {"queue": queue, "minutes": minutes})
        return [MinuteCounters(*row) for row in rows]


def prune_counters() -> int:
    """Delete counters older than two days; return how many."""
    with cursor() as db:
        return db.execute(_PRUNE_COUNTERS).rowcount


# Four workers in a row died over each. By their own index, which is almost always empty.
_ISOLATED_KEYS = (
    "SELECT key FROM {job} WHERE strikes >= {max_strikes} ORDER BY key DESC LIMIT %(most)s"
)


def isolated_by_queue(*, most: int) -> dict[str, list[int]]:
    """The newest of each queue that has any."""
    with cursor() as db:
        keys_by_queue = {
            name: [key for (key,) in db.execute(on(name, _ISOLATED_KEYS), {"most": most})]
            for name in sorted(job_classes())
        }
    return {name: keys for name, keys in keys_by_queue.items() if keys}
