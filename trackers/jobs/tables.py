"""The tables of the queues, and SQL on one of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from functools import cache
from typing import cast

from trackers.jobs.models import (
    BUCKET_KEYS,
    MAX_BATCH_KEYS,
    MAX_STRIKES,
    SUSPECT_BATCH_KEYS,
    SUSPECT_STRIKES,
    Job,
    job_classes,
)
from tweetwatch.statements import fill, statement

# Percent of a batch that goes to urgent keys first. The rest is for the oldest, so that a backlog
# always shrinks; what either leaves the other takes, so that requests go out as full as they can.
# It applies to each batch by itself, so pushers need not coordinate.
URGENT_SHARE = 75

# A claim looks at no more buckets than this, enough even with one key in each. SLACK makes up for
# those that rivals have locked.
_SLACK = 24
_MAX_BUCKETS = MAX_BATCH_KEYS + _SLACK

# The expression in the index of the urgent buckets.
_URGENT_AT = "CASE WHEN urgent THEN due_at END"

# {strikes_now}: one more where the lease ran out on a batch whose keys are to blame for it, as
# `blamed` in sql/claim.sql says.
_STRIKES_NOW = "strikes + ((lease IN (SELECT lease FROM blamed)) IS TRUE)::int"

# {of_slot}: added to a stamp, so that few buckets share one, however many a statement makes.
_OF_SLOT = "floor(10 * extract(epoch FROM due_at))::bigint"

# A column of the bucket of a {job} row: the only bucket with its stamp and its key. LIMIT keeps the
# planner on the index on stamps, away from that of all claimed buckets.
_IN_BUCKET = """
    (SELECT b.{what} FROM {bucket} b
     WHERE b.stamp = {job}.stamp AND {job}.key = ANY(b.keys) LIMIT 1)
"""
# {claimed}: whether it is claimed, even if the lease has run out.
_CLAIMED = _IN_BUCKET.replace("{what}", "lease") + " IS NOT NULL"
# {strikes_of}: its strikes, for statements that move it and keep them.
_STRIKES_OF = "coalesce(" + _IN_BUCKET.replace("{what}", "strikes") + ", 0)"

# What `on` fills in; `sql/_into_buckets.sql` and the notes above say what stands for what.
QUEUE_PARTS = (
    "among", "bucket", "bucket_keys", "claimed", "few", "into_buckets", "job", "max_strikes",
    "most_buckets", "most_keys", "of_slot", "request_keys", "slack", "strikes_now", "strikes_of",
    "suspect_strikes",
    "urgent_at", "urgent_share",
)  # fmt: skip


def queue_statement(module: str, name: str, **parts: object) -> str:
    """As `statement`, but what depends on the queue stays open: `on` fills it in."""
    return statement(module, name, open=QUEUE_PARTS, **parts)


_INTO_BUCKETS = queue_statement(__file__, "_into_buckets")


def job_class(queue: str) -> type[Job]:
    """The `Job` that declares the queue; LookupError if there is none."""
    try:
        return job_classes()[queue]
    except KeyError:
        known = ", ".join(sorted(job_classes()))
        raise LookupError(f"There is no queue {queue!r}; there are: {known}.") from None


def job_table(queue: str) -> str:
    return f'"{job_class(queue)._meta.db_table}"'


def bucket_table(queue: str) -> str:
    return f'"{job_class(queue).bucket._meta.db_table}"'


@cache
def on(queue: str, query: str, *, fewer_strikes_than: int | None = None) -> str:
    """The query with the queue's tables, {job} and {bucket}, its limits and strikes put in.

    {among}: which buckets a claim looks at, all of them or those with fewer strikes.
    """
    job = job_class(queue)
    fewer = fewer_strikes_than
    parts = {
        "job": job_table(queue),
        "bucket": bucket_table(queue),
        "bucket_keys": min(BUCKET_KEYS, job.request_keys or job.most_keys),
        "most_keys": job.most_keys,
        "request_keys": job.request_keys or "NULL",
        "most_buckets": _MAX_BUCKETS,
        "slack": _SLACK,
        "max_strikes": MAX_STRIKES,
        "few": SUSPECT_BATCH_KEYS,
        "strikes_now": _STRIKES_NOW,
        "suspect_strikes": SUSPECT_STRIKES,
        "among": "true" if fewer is None else f"{_STRIKES_NOW} < {fewer}",
        "of_slot": _OF_SLOT,
        "urgent_at": _URGENT_AT,
        "urgent_share": URGENT_SHARE,
    }
    pieces = {"claimed": _CLAIMED, "strikes_of": _STRIKES_OF, "into_buckets": _INTO_BUCKETS}
    return fill(query, {**parts, **{name: fill(piece, parts) for name, piece in pieces.items()}})


def new_stamp() -> int:
    """A random stamp that no bucket has; a statement that needs several adds to it."""
    return secrets.randbits(62)


def keys_of(rows: Iterable[object]) -> Iterable[int]:
    """The first column, which is a key."""
    return (cast("tuple[int]", row)[0] for row in rows)
