"""Figures of a queue: what waits, how late it is, what was done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from trackers.jobs.models import Tally
from trackers.jobs.queue import on
from tweetwatch.database import cursor

# In flight: leases that have not run out lie within the longest lease from now, so that a range of
# the one index holds them all.
WAITING = """
    SELECT
        (SELECT count(*) FROM {job} WHERE due_at <= now()),
        (SELECT extract(epoch FROM now() - min(due_at))::float8
         FROM {job} WHERE due_at <= now()),
        (SELECT count(*) FROM {job} j, trackers_namespace n
         WHERE n.name = %(namespace)s AND j.due_at > now() AND j.due_at <= now() + n.lease
           AND j.lease IS NOT NULL),
        (SELECT count(*) FROM {job}),
        (SELECT count(*) FROM {job} WHERE attempts >= 4)
"""

# The last sixty seconds, from rows per minute: this minute whole, and of the last one the share
# that is left, as if it had come evenly.
DONE = """
    WITH share AS (SELECT 1 - extract(second FROM now()) / 60.0 AS of_last,
                          date_trunc('minute', now()) AS this)
    SELECT coalesce(
        sum(t.measured * CASE WHEN t.minute = share.this THEN 1 ELSE share.of_last END), 0)
    FROM share LEFT JOIN trackers_tally t
      ON t.namespace = %(namespace)s AND t.minute >= share.this - interval '1 minute'
"""

LATENESS = """
    SELECT place::int, sum(count::int)::int
    FROM trackers_tally t,
         jsonb_array_elements_text(t.late) WITH ORDINALITY AS late(count, place)
    WHERE t.namespace = %(namespace)s AND t.minute >= now() - interval '5 minutes'
    GROUP BY place ORDER BY place
"""

FILL = """
    SELECT sum(asked + failed)::float8 / nullif(sum(batches), 0)
    FROM trackers_tally
    WHERE namespace = %(namespace)s AND minute >= now() - interval '5 minutes'
"""

BY_MINUTE = """
    SELECT minute, sum(batches)::int, sum(asked)::int, sum(measured)::int, sum(changed)::int,
           sum(failed)::int
    FROM trackers_tally
    WHERE namespace = %(namespace)s AND minute > now() - %(minutes)s * interval '1 minute'
    GROUP BY minute ORDER BY minute
"""

FORGET = "DELETE FROM trackers_tally WHERE minute < now() - interval '2 days'"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one namespace now; lateness and batch fill over five minutes, None without a batch."""

    due: int
    oldest_due_seconds: float
    in_flight: int
    scheduled: int
    isolated: int
    checked_last_minute: int
    lateness_p50_seconds: float | None
    lateness_p99_seconds: float | None
    batch_fill: float | None


@dataclass(frozen=True, slots=True)
class Minute:
    minute: datetime
    batches: int
    asked: int
    measured: int
    changed: int
    failed: int


def figures(namespace: str = "tweet:update") -> Figures:
    given = {"namespace": namespace}
    with cursor() as db:
        waiting = db.execute(on(namespace, WAITING), given).fetchone()
        done = db.execute(DONE, given).fetchone()
        late: list[tuple[int, int]] = db.execute(LATENESS, given).fetchall()
        fill = db.execute(FILL, given).fetchone()
    assert waiting is not None
    assert done is not None
    assert fill is not None
    due, oldest, in_flight, scheduled, isolated = waiting
    return Figures(
        due=due,
        oldest_due_seconds=oldest or 0.0,
        in_flight=in_flight,
        scheduled=scheduled,
        isolated=isolated,
        checked_last_minute=round(done[0]),
        lateness_p50_seconds=quantile(late, 0.5),
        lateness_p99_seconds=quantile(late, 0.99),
        batch_fill=fill[0],
    )


def quantile(counts: list[tuple[int, int]], share: float) -> float | None:
    """The upper bound of the class in which this share of all is reached; None when there is none.

    `counts`: (class, from 1, of `Tally.LATENESS`; how many), in order.
    """
    total = sum(count for _, count in counts)
    reached = 0
    for place, count in counts:
        reached += count
        if total and reached >= share * total:
            return Tally.LATENESS[min(place, len(Tally.LATENESS)) - 1]
    return None


def by_minute(namespace: str = "tweet:update", *, minutes: int = 60) -> list[Minute]:
    """What was done in each of the last minutes in which anything was."""
    with cursor() as db:
        rows = db.execute(BY_MINUTE, {"namespace": namespace, "minutes": minutes})
        return [Minute(*row) for row in rows]


def forget_old() -> int:
    """Forget tallies of two days ago and before; how many rows that was."""
    with cursor() as db:
        return db.execute(FORGET).rowcount
