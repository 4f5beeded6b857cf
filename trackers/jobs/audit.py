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

from trackers.jobs.tables import job_class, new_stamp, on, queue_statement
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

logger = logging.getLogger(__name__)

# Rows per transaction.
JOBS_PER_PIECE, BUCKETS_PER_PIECE = 5000, 500

FIND_LOST = queue_statement(__file__, "lost")
FIND_DEAD = queue_statement(__file__, "dead")


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one queue."""

    jobs: int = 0
    buckets: int = 0
    lost: int = 0  # keys in no bucket
    dead: int = 0  # entries that the next claim would drop
    doubled: int = 0  # keys in more than one
    is_whole: bool = True  # False if time ran out first

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.doubled)


def audit_queue(queue: str, *, mend: bool, deadline: Deadline | None = None) -> Audit:
    """Check all jobs and all buckets; `mend` what is wrong. Not within a transaction.

    With a deadline, jobs and buckets have half of the time each, and each walk starts at a random
    row and wraps around, so that one run finds what another had no time for.
    """
    job = job_class(queue)
    result, until = Audit(), deadline and deadline.halfway()
    ends = _first_and_last(job._default_manager.all(), "key")
    for seen, lost, doubled in audit_pieces(queue, FIND_LOST, ends, mend, until):
        result = replace(
            result,
            jobs=result.jobs + seen,
            lost=result.lost + lost,
            doubled=result.doubled + doubled,
        )
    was_cut_off = bool(until and until.is_over)
    ends = _first_and_last(job.bucket._default_manager.all(), "id")
    for seen, dead, _ in audit_pieces(queue, FIND_DEAD, ends, mend, deadline):
        result = replace(result, buckets=result.buckets + seen, dead=result.dead + dead)
    return replace(result, is_whole=not (was_cut_off or (deadline and deadline.is_over)))


def mend_queue(queue: str, *, deadline: Deadline) -> None:
    """Put back keys that no claim would find, and delete dead entries."""
    result = audit_queue(queue, mend=True, deadline=deadline)
    if not result.is_sound:
        logger.error(
            "%s: %d keys were in no bucket and %d in several; each is in one again",
            queue,
            result.lost,
            result.doubled,
        )


def _first_and_last(rows: QuerySet[Any], field: str) -> tuple[int, int]:
    bounds = rows.aggregate(first=Min(field), last=Max(field))
    return (bounds["first"] or 0) - 1, bounds["last"] or 0


def audit_pieces(
    queue: str, query: str, ends: tuple[int, int], mend: bool, deadline: Deadline | None
) -> Iterator[tuple[int, int, int]]:
    """Yield for each piece how many rows it saw, and its two counts of what is wrong."""
    first, last = ends
    begin = random.randint(first, last) if deadline and first < last else first
    size = JOBS_PER_PIECE if query is FIND_LOST else BUCKETS_PER_PIECE
    for after, until in ((begin, last), (first, begin)):
        while not (deadline and deadline.is_over):
            params = {"after": after, "until": until, "size": size, "mend": mend}
            with cursor() as db:
                row = db.execute(on(queue, query), {**params, "stamp": new_stamp()}).fetchone()
            assert row is not None
            yield row[1:]
            if row[1] < size:
                break
            after = row[0]
