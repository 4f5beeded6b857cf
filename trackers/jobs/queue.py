"""The delayed queue: keys that wait for their time in one narrow table per namespace.

schedule ─> waiting ─ claim (lease) ─> claimed ─ finish / release ─> waiting again, or gone
                          └── the lease runs out: due again, one strike more

A claim is good while its lease token stands on the rows. Whoever comes late writes nothing.
All times are the database's.
"""

from __future__ import annotations

import logging
import secrets
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import cast

from django.db import transaction
from psycopg import sql

from trackers.jobs.models import Job, Tally
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

NO_DELAY = timedelta(0)
FROM_THE_HEAD = "-infinity"


@dataclass(frozen=True, slots=True)
class Batch:
    """Keys claimed together, in ascending order, by one lease.

    `due_at` is when the oldest of them was due. `late` counts the keys by lateness, in the
    classes of `Tally.LATENESS`. `is_full`: there may be as many again.
    """

    lease: int
    keys: tuple[int, ...]
    due_at: datetime
    expires_at: datetime
    namespace: str = ""
    task: str = ""
    claimed_at: datetime | None = None
    late: tuple[int, ...] = field(default=(), repr=False)
    is_full: bool = False


# Seconds until a batch is ready, 0 or less: now. Null: nothing is scheduled, or it is paused.
# Ready: a full batch is due, or the oldest due key has waited for buffer_ttl. Two index probes,
# however many keys wait. The lower bound skips what earlier claims left dead at the head.
READY_IN = """
    SELECT CASE WHEN n.paused THEN NULL ELSE extract(epoch FROM greatest(
               n.held_until,
               oldest.due_at,
               least(filling.due_at, oldest.due_at + n.buffer_ttl)
           ) - now())::float8 END
    FROM trackers_namespace n
    CROSS JOIN LATERAL (
        SELECT due_at FROM {job} WHERE due_at >= %(low)s::timestamptz
        ORDER BY due_at LIMIT 1
    ) oldest
    LEFT JOIN LATERAL (
        SELECT due_at FROM {job} WHERE due_at >= %(low)s::timestamptz
        ORDER BY due_at OFFSET n.batch_size - 1 LIMIT 1
    ) filling ON true
    WHERE n.name = %(namespace)s
"""

# One short statement; the lease goes into due_at, so that no reaper is needed and in-flight rows
# cost the next claim nothing.
# MATERIALIZED: without the fence the planner may run the LIMIT more than once and lock more.
# SKIP LOCKED: rivals take the next rows; what one of them just claimed drops out by its new due_at.
# now(), never clock_timestamp(): a volatile bound is no index condition.
# coalesce: paused or held there are no knobs, and a LIMIT of null would be none at all.
# ctid: the rows are where `head` locked them, whatever the statistics say. Once the queue was
# analyzed empty, a join by key is planned as a walk over the whole table for each key. A row that
# moved while it was locked is not found there, and stays due.
# A claim is not flushed: a crash of the database that forgets it only repeats a request, and the
# token is random, so no later claim has the same.
# A lease still on a due row ran out: one strike. Two strikes: looked up alone, so that a key that
# kills its worker takes nobody along. Two more of its own: isolated, out of the way until a person
# retries it.
CLAIM = """
    WITH knobs AS MATERIALIZED (
        SELECT set_config('synchronous_commit', 'off', true),
               task, lease, coalesce(%(limit)s::int, batch_size) AS size,
               coalesce(%(buffer_ttl)s::interval, buffer_ttl) AS buffer_ttl
        FROM trackers_namespace
        WHERE name = %(namespace)s AND NOT paused
          AND (held_until IS NULL OR held_until <= now())
    ),
    head AS MATERIALIZED (
        SELECT ctid AS place, key, due_at, attempts + (lease IS NOT NULL)::int AS strikes
        FROM {job}
        WHERE due_at <= now() AND due_at >= %(low)s::timestamptz
        ORDER BY due_at
        LIMIT coalesce((SELECT size FROM knobs), 0)
        FOR UPDATE SKIP LOCKED
    ),
    ready AS MATERIALIZED (
        SELECT (SELECT strikes FROM head WHERE strikes < 4 ORDER BY due_at LIMIT 1)
                   AS first_strikes,
               (SELECT key FROM head WHERE strikes < 4 ORDER BY due_at LIMIT 1) AS first_key,
               count(*) >= max(knobs.size)
               OR min(head.due_at) <= now() - max(knobs.buffer_ttl) AS go
        FROM head CROSS JOIN knobs
    ),
    claimed AS (
        UPDATE {job} j
        SET due_at = now() + knobs.lease, lease = %(token)s, attempts = head.strikes
        FROM head, ready, knobs
        WHERE j.ctid = head.place AND ready.go
          AND CASE WHEN ready.first_strikes >= 2 THEN head.key = ready.first_key
                   ELSE head.strikes < 2 END
        RETURNING j.key, head.due_at, j.due_at AS expires_at
    ),
    isolated AS (
        UPDATE {job} j
        SET due_at = '9000-01-01Z', lease = NULL, attempts = 4
        FROM head
        WHERE j.ctid = head.place AND head.strikes >= 4
        RETURNING j.key
    )
    SELECT array_agg(key ORDER BY key), min(due_at), min(expires_at), now(),
           array_agg(extract(epoch FROM now() - due_at)::float4),
           (SELECT task FROM knobs), (SELECT array_agg(key) FROM isolated),
           count(*) = (SELECT size FROM knobs)
    FROM claimed
"""

SCHEDULE = """
    INSERT INTO {job} (key, due_at, lease, attempts)
    VALUES (%(key)s, now() + %(delay)s, NULL, 0)
    ON CONFLICT (key) DO UPDATE
    SET due_at = excluded.due_at, lease = NULL, attempts = 0
"""

# Many keys at once: one COPY into this, one INSERT out of it.
ARRIVALS = "CREATE TEMP TABLE arrivals (place bigint, key bigint, delay interval) ON COMMIT DROP"

# The burst queues behind earlier bursts, so that two of them together keep to the rate as well.
# What is no burst, less than a second's worth, waits for nobody.
RESERVE_ARRIVALS = """
    UPDATE trackers_namespace n
    SET arrivals_until = greatest(n.arrivals_until, now())
                       + %(count)s * interval '1 second' / n.arrivals_per_second
    WHERE n.name = %(namespace)s AND %(count)s > n.arrivals_per_second
    RETURNING extract(epoch FROM n.arrivals_until - now())
              - %(count)s / n.arrivals_per_second::float8
"""

# In the order of keys: every statement that locks many rows of a queue takes them in that order.
SCHEDULE_ARRIVALS = """
    INSERT INTO {job} (key, due_at, lease, attempts)
    SELECT DISTINCT ON (a.key) a.key,
           now() + a.delay
           + (%(start)s + a.place / n.arrivals_per_second::float8) * interval '1 second',
           NULL, 0
    FROM arrivals a CROSS JOIN trackers_namespace n
    WHERE n.name = %(namespace)s
    ORDER BY a.key, a.place DESC
    ON CONFLICT (key) DO UPDATE
    SET due_at = excluded.due_at, lease = NULL, attempts = 0
"""

# The fence: only rows that still carry this lease. Locked in the order of keys before anything is
# written: a plan's own order would let this and a refresh of the same keys wait crosswise.
RELEASE = """
    UPDATE {job} SET due_at = now() + %(delay)s, lease = NULL
    WHERE lease = %(lease)s AND key = ANY(ARRAY(
        SELECT key FROM {job} WHERE key = ANY(%(keys)s::bigint[]) AND lease = %(lease)s
        ORDER BY key FOR UPDATE))
    RETURNING key
"""

FINISH = """
    WITH ours AS MATERIALIZED (
        SELECT key FROM {job} WHERE key = ANY(%(keys)s::bigint[]) AND lease = %(lease)s
        ORDER BY key FOR UPDATE
    ),
    next AS MATERIALIZED (
        SELECT * FROM unnest(%(moved)s::bigint[], %(delays)s::interval[]) AS next(key, delay)
    ),
    moved AS (
        UPDATE {job} j SET due_at = now() + next.delay, lease = NULL, attempts = 0
        FROM next
        WHERE j.key = ANY(ARRAY(SELECT key FROM ours)) AND j.key = next.key
          AND j.lease = %(lease)s
        RETURNING j.key
    ),
    ended AS (
        DELETE FROM {job} j
        WHERE j.key = ANY(ARRAY(SELECT key FROM ours)) AND j.lease = %(lease)s
          AND NOT EXISTS (SELECT FROM next WHERE next.key = j.key)
        RETURNING j.key
    )
    SELECT key FROM moved UNION ALL SELECT key FROM ended
"""

REMOVE = """
    DELETE FROM {job} WHERE key = ANY(ARRAY(
        SELECT key FROM {job} WHERE key = ANY(%(keys)s::bigint[]) ORDER BY key FOR UPDATE))
    RETURNING key
"""


def namespaces() -> dict[str, type[Job]]:
    """Every declared namespace and its table."""
    return {job.namespace: job for job in Job.__subclasses__()}


def table(namespace: str) -> sql.Identifier:
    """The table of a namespace. Raises LookupError when no part declares it."""
    try:
        return sql.Identifier(namespaces()[namespace]._meta.db_table)
    except KeyError:
        known = ", ".join(sorted(namespaces()))
        raise LookupError(f"There is no namespace {namespace!r}; there are: {known}.") from None


def on(namespace: str, query: str) -> sql.Composed:
    return sql.SQL(query).format(job=table(namespace))


def schedule(namespace: str, key: int, delay: timedelta) -> None:
    """Put the key so that it is due after `delay`, or move it; a claim that is out on it ends."""
    with cursor() as db:
        db.execute(on(namespace, SCHEDULE), {"key": key, "delay": delay})


def schedule_many(namespace: str, jobs: Iterable[tuple[int, timedelta]]) -> int:
    """Schedule each (key, delay), spread by the namespace's rate of arrivals; how many there were.

    One COPY, whatever the number. The first of a burst is due after its delay, each next one
    1/rate later, and a burst begins where the last one ends.
    """
    query = on(namespace, SCHEDULE_ARRIVALS)
    with transaction.atomic(), cursor() as db:
        db.execute(ARRIVALS)
        with db.copy("COPY arrivals (place, key, delay) FROM STDIN") as copy:
            count = 0
            for key, delay in jobs:
                copy.write_row((count, key, delay))
                count += 1
        given = {"namespace": namespace, "count": count}
        reserved = db.execute(RESERVE_ARRIVALS, given).fetchone()
        start = max(0.0, reserved[0]) if reserved else 0.0
        inserted = db.execute(query, {"namespace": namespace, "start": start}).rowcount
        # The caller may schedule again in this transaction.
        db.execute("DROP TABLE arrivals")
        if count and not inserted:
            raise LookupError(f"The namespace {namespace!r} has no row in the table of namespaces.")
    return count


def ready_in(namespace: str, *, low: datetime | str = FROM_THE_HEAD) -> float | None:
    """Seconds until a batch can be claimed, at most 0 when it is now; None: not to be told."""
    with cursor() as db:
        found = db.execute(on(namespace, READY_IN), {"namespace": namespace, "low": low}).fetchone()
    return None if found is None else found[0]


def claim(namespace: str, *, low: datetime | str = FROM_THE_HEAD) -> Batch | None:
    """Claim a batch when it is full or its oldest key has waited for the namespace's buffer_ttl."""
    return _claim(namespace, limit=None, buffer_ttl=None, low=low)


def get(namespace: str, limit: int = 1) -> Batch | None:
    """Claim up to `limit` keys that are due now, without waiting for company; None: nothing is."""
    if limit < 1:
        raise ValueError("A batch has at least one key.")
    return _claim(namespace, limit=limit, buffer_ttl=NO_DELAY, low=FROM_THE_HEAD)


def _claim(
    namespace: str, *, limit: int | None, buffer_ttl: timedelta | None, low: datetime | str
) -> Batch | None:
    # Random, not a sequence: after a crash of the database a sequence can hand out a number twice,
    # and a late save of the first holder would pass the fence.
    token = secrets.randbits(63)
    with cursor() as db:
        found = db.execute(
            on(namespace, CLAIM),
            {
                "namespace": namespace,
                "limit": limit,
                "buffer_ttl": buffer_ttl,
                "low": low,
                "token": token,
            },
        ).fetchone()
    assert found is not None
    keys, due_at, expires_at, now, lateness, task, isolated, is_full = found
    if isolated:
        logger.warning(
            "%s: isolated %d keys whose fourth lease ran out, the first is %d",
            namespace,
            len(isolated),
            isolated[0],
        )
    if keys is None:
        # They stood before others that are due.
        again = {"limit": limit, "buffer_ttl": buffer_ttl, "low": low}
        return _claim(namespace, **again) if isolated else None  # type: ignore[arg-type]
    return Batch(
        lease=token,
        keys=tuple(keys),
        due_at=due_at,
        expires_at=expires_at,
        namespace=namespace,
        task=task,
        claimed_at=now,
        late=tuple(counted(lateness)),
        is_full=is_full,
    )


def counted(lateness: Iterable[float]) -> list[int]:
    """How many fall in each class of `Tally.LATENESS`; the last is what was later than all."""
    counts = [0] * (len(Tally.LATENESS) + 1)
    for seconds in lateness:
        counts[bisect_left(Tally.LATENESS, seconds)] += 1
    return counts


def release(batch: Batch, delay: timedelta = NO_DELAY) -> set[int]:
    """Give the batch back, due after `delay`. That is no strike. The keys that were still ours."""
    with cursor() as db:
        db.execute(
            on(batch.namespace, RELEASE),
            {"keys": list(batch.keys), "lease": batch.lease, "delay": delay},
        )
        return set(_keys(db))


def finish(batch: Batch, next: Mapping[int, timedelta]) -> set[int]:
    """Move the keys in `next` by their delay, remove the others; the keys that were still ours."""
    moved = [key for key in batch.keys if key in next]
    with cursor() as db:
        db.execute(
            on(batch.namespace, FINISH),
            {
                "lease": batch.lease,
                "moved": moved,
                "delays": [next[key] for key in moved],
                "keys": list(batch.keys),
            },
        )
        return set(_keys(db))


def remove(namespace: str, keys: Iterable[int]) -> set[int]:
    """Take the keys out of the queue, claimed or not; those that were in it."""
    with cursor() as db:
        db.execute(on(namespace, REMOVE), {"keys": sorted(keys)})
        return set(_keys(db))


def _keys(db: Iterable[object]) -> Iterator[int]:
    return (cast("tuple[int]", row)[0] for row in db)
