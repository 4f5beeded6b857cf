"""Audit a queue: every key that waits or is claimed lives in exactly one bucket.

jobs, by key ─> in no bucket: lost; in several: doubled ─ mend ─> in a new one, at its time
buckets, by id ─> entries of keys that were moved or removed: dead ─ mend ─> gone
The queue's own statements lose no key; a restore of single tables or a manual edit may.
Each piece is one statement, so it sees jobs and buckets as of the same moment.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Max, Min, QuerySet

from trackers.jobs.tables import declared, new_stamp, on
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

logger = logging.getLogger(__name__)

# Rows per transaction.
JOBS, BUCKETS = 5000, 500

# LIMIT in the subquery keeps the planner on the index on stamps, whatever the statistics say.
# Locks: the jobs, in the order of keys. A job that was moved between the snapshot and its lock has
# another stamp, and a bucket, so it is skipped. The new stamp makes all old entries of a key dead,
# so that the new one is the only one, and ends a claim on it.
WRONG = """
    WITH piece AS MATERIALIZED (
        SELECT key, stamp, attempts FROM {job}
        WHERE key > %(after)s AND key <= %(until)s ORDER BY key LIMIT %(size)s
    ),
    wrong AS MATERIALIZED (
        SELECT p.key, p.stamp, of.entries
        FROM piece p CROSS JOIN LATERAL (
            SELECT count(*) AS entries FROM (
                SELECT FROM {bucket} b WHERE b.stamp = p.stamp AND p.key = ANY(b.keys) LIMIT 2
            ) AS found
        ) AS of
        WHERE p.attempts < {strikes} AND of.entries <> 1
        ORDER BY p.key
    ),
    held AS MATERIALIZED (
        SELECT job.place
        FROM wrong CROSS JOIN LATERAL (
            SELECT ctid AS place FROM {job} j
            WHERE %(mend)s AND j.key = wrong.key AND j.stamp IS NOT DISTINCT FROM wrong.stamp
            FOR UPDATE
        ) AS job
    ),
    put AS (
        UPDATE {job}
        SET due_at = date_trunc('second', due_at),
            stamp = %(stamp)s + floor(extract(epoch FROM due_at))::bigint
        WHERE ctid = ANY(ARRAY(SELECT place FROM held))
        RETURNING *
    ),
    again AS ({into_buckets})
    SELECT max(key), count(*), (SELECT count(*) FROM wrong WHERE entries = 0),
           (SELECT count(*) FROM wrong WHERE entries > 1)
    FROM piece
"""

# Claimed buckets are left alone: the claim has removed their dead entries.
DEAD = """
    WITH piece AS MATERIALIZED (
        SELECT ctid AS place, id, stamp, keys FROM {bucket}
        WHERE id > %(after)s AND id <= %(until)s ORDER BY id LIMIT %(size)s
    ),
    looked AS MATERIALIZED (
        SELECT piece.*, of.keys AS live
        FROM piece CROSS JOIN LATERAL (
            SELECT array_agg(j.key ORDER BY j.key) AS keys
            FROM {job} j WHERE j.key = ANY(piece.keys) AND j.stamp = piece.stamp
        ) AS of
    ),
    free AS MATERIALIZED (
        SELECT ctid AS place FROM {bucket}
        WHERE %(mend)s AND lease IS NULL AND ctid = ANY(ARRAY(
            SELECT place FROM looked
            WHERE coalesce(cardinality(live), 0) < cardinality(keys)))
        FOR UPDATE SKIP LOCKED
    ),
    emptied AS (
        DELETE FROM {bucket} WHERE ctid = ANY(ARRAY(
            SELECT place FROM free JOIN looked USING (place) WHERE live IS NULL))
    ),
    pruned AS (
        UPDATE {bucket} b SET keys = looked.live FROM looked
        WHERE b.ctid = ANY(ARRAY(
                SELECT place FROM free JOIN looked USING (place) WHERE live IS NOT NULL))
          AND b.ctid = looked.place
    )
    SELECT max(id), count(*),
           coalesce(sum(cardinality(keys) - coalesce(cardinality(live), 0)), 0)::bigint, 0
    FROM looked
"""


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one namespace. `lost`: keys in no bucket; `doubled`: keys in more than one.

    `dead`: entries that the next claim would drop. `is_whole`: False if time ran out first.
    """

    jobs: int = 0
    buckets: int = 0
    lost: int = 0
    dead: int = 0
    doubled: int = 0
    is_whole: bool = True

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.doubled)


def audit(namespace: str, *, mend: bool, deadline: Deadline | None = None) -> Audit:
    """Check all jobs and all buckets; `mend` what is wrong. Not within a transaction.

    With a deadline, jobs and buckets have half of the time each, and each walk starts at a random
    row and wraps around, so that one run finds what another had no time for.
    """
    job = declared(namespace)
    told, until = Audit(), deadline and deadline.halfway()
    ends = first_and_last(job._default_manager.all(), "key")
    for seen, lost, doubled in walk(namespace, WRONG, ends, mend, until):
        told = replace(
            told, jobs=told.jobs + seen, lost=told.lost + lost, doubled=told.doubled + doubled
        )
    was_cut_off = bool(until and until.is_over)
    ends = first_and_last(job.bucket._default_manager.all(), "id")
    for seen, dead, _ in walk(namespace, DEAD, ends, mend, deadline):
        told = replace(told, buckets=told.buckets + seen, dead=told.dead + dead)
    return replace(told, is_whole=not (was_cut_off or (deadline and deadline.is_over)))


def put_right(namespace: str, *, deadline: Deadline) -> None:
    """Put back keys that no claim would find, and delete dead entries."""
    told = audit(namespace, mend=True, deadline=deadline)
    if not told.is_sound:
        logger.error(
            "%s: %d keys were in no bucket and %d in several; each is in one again",
            namespace,
            told.lost,
            told.doubled,
        )


def first_and_last(rows: QuerySet[Any], field: str) -> tuple[int, int]:
    found = rows.aggregate(first=Min(field), last=Max(field))
    return (found["first"] or 0) - 1, found["last"] or 0


def walk(
    namespace: str, query: str, ends: tuple[int, int], mend: bool, deadline: Deadline | None
) -> Iterator[tuple[int, int, int]]:
    """Yield for each piece how many rows it saw, and its two counts of what is wrong."""
    first, last = ends
    begin = random.randint(first, last) if deadline and first < last else first
    size = JOBS if query is WRONG else BUCKETS
    for after, until in ((begin, last), (first, begin)):
        while not (deadline and deadline.is_over):
            given = {"after": after, "until": until, "size": size, "mend": mend}
            with cursor() as db:
                found = db.execute(on(namespace, query), {**given, "stamp": new_stamp()}).fetchone()
            assert found is not None
            yield found[1:]
            if found[1] < size:
                break
            after = found[0]
