"""How a claim ends: given back, put off, or finished, for all of its keys or for some.

A late worker changes nothing: its buckets have another lease, or its keys another stamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from trackers.jobs.batch import Batch
from trackers.jobs.claim import NO_DELAY
from trackers.jobs.tables import keys_of, new_stamp, on
from tweetwatch.database import cursor

# Every statement that ends a claim, or part of one, begins with this. The fence: the buckets that
# still carry this lease, and of their keys those that were asked for (`back`) and have not been
# moved or removed since. A bucket's other keys stay claimed (`stay`).
# Locks: the buckets, then jobs in the order of keys. In the plan's own order, this and a refresh of
# the same keys could deadlock. LATERAL: each by the primary key, whatever the statistics say.
CUT = """
    held AS MATERIALIZED (
        SELECT ctid AS place, due_at, lease, attempts, urgent, owed_since, stamp, keys
        FROM {bucket} WHERE lease = %(lease)s ORDER BY id FOR UPDATE
    ),
    cut AS MATERIALIZED (
        SELECT held.*, of.back, of.stay
        FROM held CROSS JOIN LATERAL (
            SELECT array_agg(key) FILTER (WHERE asked) AS back,
                   array_agg(key) FILTER (WHERE NOT asked) AS stay
            FROM (
                SELECT key, (key IN (SELECT unnest(%(keys)s::bigint[]))) IS TRUE AS asked
                FROM unnest(held.keys) AS key
            ) AS entry
        ) AS of
        WHERE of.back IS NOT NULL
    ),
    stay AS (
        UPDATE {bucket} b SET keys = cut.stay
        FROM cut
        WHERE b.ctid = ANY(ARRAY(SELECT place FROM cut WHERE cut.stay IS NOT NULL))
          AND b.ctid = cut.place
    ),
    ours AS MATERIALIZED (
        SELECT job.*
        FROM (
            SELECT key FROM cut, unnest(back) AS key ORDER BY key
        ) AS entry
        CROSS JOIN LATERAL (
            SELECT ctid AS place, key, stamp FROM {job}
            WHERE key = entry.key AND stamp = ANY(ARRAY(SELECT stamp FROM cut)) FOR UPDATE
        ) AS job
    )
"""

# Buckets that go back as a whole, and a new one for a part. They are owed for as long as before,
# unless they are due again.
GO_BACK = """
    whole AS (
        UPDATE {bucket} b SET due_at = cut.due, lease = NULL, owed_since = {owed}
        FROM (SELECT *, {due} AS due FROM cut WHERE stay IS NULL) cut
        WHERE b.ctid = ANY(ARRAY(SELECT place FROM cut WHERE stay IS NULL)) AND b.ctid = cut.place
    ),
    part AS (
        INSERT INTO {bucket} (due_at, attempts, urgent, owed_since, stamp, keys)
        SELECT {due}, attempts, urgent, {owed}, stamp, back FROM cut WHERE stay IS NOT NULL
    )
"""


def go_back(*, due: str, owed: str) -> str:
    return GO_BACK.replace("{due}", due).replace("{owed}", owed)


# In its place in line, which the oldest of the batch had. An urgent one was due much later.
PLACE_IN_LINE = "CASE WHEN urgent THEN now() ELSE %(due_at)s::timestamptz END"
PUT_BACK = f"""
    WITH {CUT},
    {go_back(due=PLACE_IN_LINE, owed="cut.owed_since")}
    SELECT key FROM ours
"""

OWED = "CASE WHEN NOT %(anew)s THEN cut.owed_since END"
RELEASE = f"""
    WITH {CUT},
    {go_back(due="now() + %(delay)s", owed=OWED)},
    moved AS (
        UPDATE {{job}} SET due_at = now() + %(delay)s
        WHERE ctid = ANY(ARRAY(SELECT place FROM ours))
    )
    SELECT key FROM ours
"""

# Jobs by ctid alone: with statistics from when the queue was empty, a join on the key would walk
# the whole index.
FINISH = f"""
    WITH {CUT},
    ended AS (
        DELETE FROM {{bucket}}
        WHERE ctid = ANY(ARRAY(SELECT place FROM cut WHERE stay IS NULL))
    ),
    next AS MATERIALIZED (
        SELECT place, delay
        FROM ours
        LEFT JOIN unnest(%(moved)s::bigint[], %(delays)s::interval[]) AS given(key, delay)
            USING (key)
    ),
    put AS (
        UPDATE {{job}} j SET due_at = now() + next.delay, attempts = 0, stamp = %(stamp)s
        FROM next
        WHERE j.ctid = ANY(ARRAY(SELECT place FROM next WHERE delay IS NOT NULL))
          AND j.ctid = next.place
        RETURNING j.*
    ),
    again AS ({{into_buckets}}),
    over AS (
        DELETE FROM {{job}} WHERE ctid = ANY(ARRAY(SELECT place FROM next WHERE delay IS NULL))
    )
    SELECT key FROM ours
"""


def release(batch: Batch, delay: timedelta = NO_DELAY, *, anew: bool = False) -> set[int]:
    """Give the batch back, due after `delay`, without a strike; return the keys still ours.

    `anew`: they count as due only from then on. Otherwise they are late since they were first due,
    and the figures say so.
    """
    with cursor() as db:
        db.execute(
            on(batch.namespace, RELEASE),
            {"keys": list(batch.keys), "lease": batch.lease, "delay": delay, "anew": anew},
        )
        return set(keys_of(db))


def put_back(batch: Batch) -> set[int]:
    """Give the batch back where it stood in line; return the keys still ours."""
    with cursor() as db:
        db.execute(
            on(batch.namespace, PUT_BACK),
            {"keys": list(batch.keys), "lease": batch.lease, "due_at": batch.due_at},
        )
        return set(keys_of(db))


def finish(batch: Batch, next: Mapping[int, timedelta]) -> set[int]:
    """Move the keys in `next` to that long from now, and remove the others.

    Returns the keys that were still ours: those not moved, removed or claimed by others since.
    """
    moved = [key for key in batch.keys if key in next]
    with cursor() as db:
        db.execute(
            on(batch.namespace, FINISH),
            {
                "lease": batch.lease,
                "stamp": new_stamp(),
                "moved": moved,
                "delays": [next[key] for key in moved],
                "keys": list(batch.keys),
            },
        )
        return set(keys_of(db))
