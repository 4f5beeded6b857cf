"""The tables of the namespaces, and SQL on one of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import cast

from psycopg import sql

from trackers.jobs.models import BUCKET_KEYS, FEW, MOST_KEYS, STRIKES, Job, namespaces

# Percent of a batch that goes to urgent keys first. The rest is for the oldest, so that a backlog
# always shrinks; what either leaves the other takes, so that requests go out as full as they can.
# It applies to each batch by itself, so pushers need not coordinate.
URGENT_SHARE = 75

# A claim looks at no more buckets than this, enough even with one key in each. SLACK makes up for
# those that rivals have locked.
SLACK = 24
MOST_BUCKETS = MOST_KEYS + SLACK

# The expression in the index of the urgent buckets.
URGENT_AT = "CASE WHEN urgent THEN due_at END"

# {strikes_now}: one more where the lease ran out on a batch that a worker had begun. Few batches
# are begun at a time, and old marks are removed, so the subquery is a small hash table.
STRIKES_NOW = sql.SQL(
    "attempts + ((lease IN (SELECT lease FROM trackers_begunbatch)) IS TRUE)::int"
)

# {of_slot}: added to a stamp, so that few buckets share one, however many a statement makes.
OF_SLOT = "floor(10 * extract(epoch FROM due_at))::bigint"

# A column of the bucket of a {job} row: the only bucket with its stamp and its key. LIMIT keeps the
# planner on the index on stamps, away from that of all claimed buckets.
IN_BUCKET = """
    (SELECT b.{what} FROM {bucket} b
     WHERE b.stamp = {job}.stamp AND {job}.key = ANY(b.keys) LIMIT 1)
"""
# {claimed}: whether it is claimed, even if the lease has run out.
CLAIMED = sql.SQL(IN_BUCKET.replace("{what}", "lease") + " IS NOT NULL")
# {strikes_of}: its strikes, for statements that move it and keep them.
STRIKES_OF = sql.SQL("coalesce(" + IN_BUCKET.replace("{what}", "attempts") + ", 0)")

# {into_buckets}: new buckets for the jobs in a CTE `put` (key, due_at, attempts, urgent, stamp),
# which have their new stamps already.
INTO_BUCKETS = sql.SQL("""
    INSERT INTO {bucket} (due_at, attempts, urgent, stamp, keys)
    SELECT due_at, attempts, urgent, stamp, array_agg(key ORDER BY key)
    FROM (
        SELECT *, (row_number() OVER (
                      PARTITION BY due_at, attempts, urgent, stamp ORDER BY key) - 1)
                  / {bucket_keys} AS nth
        FROM put
    ) AS numbered
    GROUP BY due_at, attempts, urgent, stamp, nth
""")

# {among}: which buckets a claim looks at, all of them or those with fewer strikes.
ALL_KEYS = sql.SQL("true")
FEWER_STRIKES = sql.SQL("{strikes_now} < {fewer}")


def declared(namespace: str) -> type[Job]:
    """The `Job` that declares the namespace; LookupError if there is none."""
    try:
        return namespaces()[namespace]
    except KeyError:
        known = ", ".join(sorted(namespaces()))
        raise LookupError(f"There is no namespace {namespace!r}; there are: {known}.") from None


def table(namespace: str) -> sql.Identifier:
    return sql.Identifier(declared(namespace)._meta.db_table)


def bucket_table(namespace: str) -> sql.Identifier:
    return sql.Identifier(declared(namespace).bucket._meta.db_table)


def on(namespace: str, query: str, *, fewer_strikes_than: int | None = None) -> sql.Composed:
    """The query with the namespace's tables, {job} and {bucket}, its limits and strikes put in."""
    job = declared(namespace)
    fewer = fewer_strikes_than
    names = {
        "job": table(namespace),
        "bucket": bucket_table(namespace),
        "bucket_keys": sql.Literal(min(BUCKET_KEYS, job.request_keys or job.most_keys)),
    }
    return sql.SQL(query).format(
        **names,
        claimed=CLAIMED.format(**names),
        strikes_of=STRIKES_OF.format(**names),
        into_buckets=INTO_BUCKETS.format(**names),
        most_keys=sql.Literal(job.most_keys),
        request_keys=sql.Literal(job.request_keys),
        most_buckets=sql.Literal(MOST_BUCKETS),
        slack=sql.Literal(SLACK),
        strikes=sql.Literal(STRIKES),
        few=sql.Literal(FEW),
        strikes_now=STRIKES_NOW,
        among=ALL_KEYS
        if fewer is None
        else FEWER_STRIKES.format(strikes_now=STRIKES_NOW, fewer=sql.Literal(fewer)),
        of_slot=sql.SQL(OF_SLOT),
        urgent_at=sql.SQL(URGENT_AT),
        urgent_share=sql.Literal(URGENT_SHARE),
    )


def new_stamp() -> int:
    """A random stamp that no bucket has; a statement that needs several adds to it."""
    return secrets.randbits(62)


def keys_of(rows: Iterable[object]) -> Iterable[int]:
    """The first column, which is a key."""
    return (cast("tuple[int]", row)[0] for row in rows)
