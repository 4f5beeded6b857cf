"""The delayed queue: keys that wait for their time, in buckets of those that are due together.

schedule ─> waiting ─ claim (lease) ─> claimed ─ finish / release ─> waiting again, or gone
                          └── the lease runs out: due again, one strike more

A claim (`claim.py`) is valid while its lease token is on the buckets, and for each key while its
job has the bucket's stamp. A late worker writes nothing. All times are the database's.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import datetime, timedelta

from django.db import transaction

from trackers.jobs.batch import FROM_THE_HEAD, THE_HEAD, Batch, Low
from trackers.jobs.claim import ALWAYS, CLAIM_BATCH, READY_IN, claim_batch, get, ready_in
from trackers.jobs.finish import finish, release, release_in_place
from trackers.jobs.models import job_classes
from trackers.jobs.tables import (
    URGENT_SHARE,
    job_table,
    keys_of,
    new_stamp,
    on,
    queue_statement,
)
from tweetwatch.database import cursor

# All that other parts need of the queue.
__all__ = [
    "ALWAYS",
    "CLAIM_BATCH",
    "FROM_THE_HEAD",
    "READY_IN",
    "THE_HEAD",
    "URGENT_SHARE",
    "Batch",
    "Low",
    "claim_batch",
    "claims",
    "finish",
    "get",
    "job_classes",
    "job_table",
    "new_stamp",
    "on",
    "queue_statement",
    "ready_in",
    "release",
    "release_in_place",
    "remove_keys",
    "retry_isolated",
    "schedule",
    "schedule_many",
]  # fmt: skip

_SCHEDULE = """
    WITH put AS (
        INSERT INTO {job} (key, due_at, stamp) VALUES (%(key)s, now() + %(delay)s, %(stamp)s)
        ON CONFLICT (key) DO UPDATE
        SET due_at = excluded.due_at, stamp = excluded.stamp, strikes = 0, urgent = false
        RETURNING *
    )
    {into_buckets}
"""

# Many keys at once: one COPY into this, one INSERT out of it.
CREATE_ARRIVALS = """
    CREATE TEMP TABLE arrivals (place bigint, key bigint, delay interval, urgent bool)
    ON COMMIT DROP
"""

# A burst queues behind earlier ones, so that together they keep to the rate. Up to a second's worth
# of arrivals is not a burst, and does not wait.
_RESERVE_ARRIVALS = """
    UPDATE trackers_queue n
    SET arrivals_until = greatest(n.arrivals_until, now())
                       + %(count)s * interval '1 second' / n.arrivals_per_second
    WHERE n.name = %(queue)s AND %(count)s > n.arrivals_per_second
    RETURNING extract(epoch FROM n.arrivals_until - now())
              - %(count)s / n.arrivals_per_second::float8
"""

_SCHEDULE_ARRIVALS = queue_statement(__file__, "schedule_arrivals")

# This alone makes their entries in buckets dead.
_REMOVE_KEYS = """
    DELETE FROM {job} WHERE key = ANY(ARRAY(
        SELECT key FROM {job} WHERE key = ANY(%(keys)s::bigint[]) ORDER BY key FOR UPDATE))
    RETURNING key
"""


# By the index of the isolated keys. Locks: jobs, in the order of keys, as everywhere.
_RETRY_ISOLATED = """
    WITH isolated AS MATERIALIZED (
        SELECT ctid AS place FROM {job} WHERE strikes >= {max_strikes}
        ORDER BY key LIMIT 1000 FOR UPDATE
    ),
    put AS (
        UPDATE {job} SET due_at = now(), stamp = %(stamp)s, strikes = 0, urgent = false
        WHERE ctid = ANY(ARRAY(SELECT place FROM isolated))
        RETURNING *
    ),
    bucket AS ({into_buckets})
    SELECT count(*) FROM put
"""


# LIMIT keeps the planner on the primary key and the index on stamps, whatever the statistics say.
_CLAIMED_KEYS = """
    SELECT key, due_at
    FROM unnest(%(keys)s::bigint[]) AS asked(id)
    CROSS JOIN LATERAL (SELECT key, stamp FROM {job} WHERE key = asked.id LIMIT 1) AS job
    CROSS JOIN LATERAL (
        SELECT b.due_at, b.lease FROM {bucket} b
        WHERE b.stamp = job.stamp AND job.key = ANY(b.keys) LIMIT 1
    ) AS bucket
    WHERE lease IS NOT NULL
"""


def schedule(namespace: str, key: int, delay: timedelta) -> None:
    """Add the key (64 bits), due after `delay`, or move it to that time.

    A claim on it ends: its late save writes nothing. LookupError: there is no such queue.
    """
    with cursor() as db:
        db.execute(on(namespace, _SCHEDULE), {"key": key, "delay": delay, "stamp": new_stamp()})


def schedule_many(
    namespace: str, jobs: Iterable[tuple[int, timedelta]], *, urgent: Container[int] = ()
) -> int:
    """Schedule each (key, delay), spread by the queue's rate of arrivals; return how many.

    Under backlog the keys in `urgent` come before those that have been due for longer.

    One COPY, whatever the number. The first key of a burst is due after its delay, each next one
    1/rate later, in steps of a tenth of a second, and a burst begins where the last one ends. If
    a key comes twice, the last delay counts. LookupError: there is no such queue.
    """
    query = on(namespace, _SCHEDULE_ARRIVALS)
    with transaction.atomic(), cursor() as db:
        db.execute(CREATE_ARRIVALS)
        with db.copy("COPY arrivals (place, key, delay, urgent) FROM STDIN") as copy:
            count = 0
            for key, delay in jobs:
                copy.write_row((count, key, delay, key in urgent))
                count += 1
        params = {"queue": namespace, "count": count}
        reserved = db.execute(_RESERVE_ARRIVALS, params).fetchone()
        start = max(0.0, reserved[0]) if reserved else 0.0
        params = {"queue": namespace, "start": start, "stamp": new_stamp()}
        inserted = db.execute(query, params).rowcount
        # The caller may schedule again in this transaction.
        db.execute("DROP TABLE arrivals")
        if count and not inserted:
            raise LookupError(f"The queue {namespace!r} has no row in the table of queues.")
    return count


def remove_keys(queue: str, keys: Iterable[int]) -> set[int]:
    """Remove the keys from the queue, claimed or not; return those that were in it. LookupError:
    there is no such queue."""
    with cursor() as db:
        db.execute(on(queue, _REMOVE_KEYS), {"keys": sorted(keys)})
        return set(keys_of(db))


def retry_isolated(queue: str) -> int:
    """Make the queue's isolated keys due at once, without their strikes; return how many.

    A thousand in a transaction. LookupError: there is no such queue.
    """
    retried = 0
    while True:
        with cursor() as db:
            row = db.execute(on(queue, _RETRY_ISOLATED), {"stamp": new_stamp()}).fetchone()
        assert row is not None
        if not row[0]:
            return retried
        retried += row[0]


def claims(queue: str, keys: Iterable[int]) -> dict[int, datetime]:
    """The keys among these that are claimed, with when the lease runs out, or ran out."""
    with cursor() as db:
        return dict(db.execute(on(queue, _CLAIMED_KEYS), {"keys": list(keys)}).fetchall())
