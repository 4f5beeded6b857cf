"""The tables of the namespaces, and SQL on one of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import cast

from psycopg import sql

from trackers.jobs.models import BUCKET_KEYS, FEW, MOST_KEYS, STRIKES, Job, namespaces

# How much of a batch the urgent keys have before all others: three quarters. The rest is for the
# oldest, so that a backlog always gets smaller; what either leaves the other takes, so that no
# request goes out with less than it could. It holds in each batch, so pushers need not agree on it.
URGENT_SHARE = 75

# A claim looks at no more buckets than this, were there one key in each; and at so many more than
# it needs, for those that rivals have locked.
SLACK = 24
MOST_BUCKETS = MOST_KEYS + SLACK

# As the index of the urgent ones has it.
URGENT_AT = "CASE WHEN urgent THEN due_at END"

# With one more where the lease ran out on a batch that a worker had begun, {strikes_now}. Few are
# begun at a time, and the dead among them are forgotten, so they are a small hash table.
STRIKES_NOW = sql.SQL(
    "attempts + ((lease IN (SELECT lease FROM trackers_begunbatch)) IS TRUE)::int"
)

# Of `due_at`, for a stamp: so few buckets have the same one, however many a statement makes.
OF_SLOT = "floor(10 * extract(epoch FROM due_at))::bigint"

# What a row of {job} has in its bucket, which is the only one with its stamp and its key. LIMIT: by
# the index on stamps, and not by that of all that is claimed.
IN_BUCKET = """
    (SELECT b.{what} FROM {bucket} b
     WHERE b.stamp = {job}.stamp AND {job}.key = ANY(b.keys) LIMIT 1)
"""
# Whether it is claimed, its lease run out or not: {claimed}.
CLAIMED = sql.SQL(IN_BUCKET.replace("{what}", "lease") + " IS NOT NULL")
# Its strikes, for who moves it and leaves it these: {strikes_of}.
STRIKES_OF = sql.SQL("coalesce(" + IN_BUCKET.replace("{what}", "attempts") + ", 0)")

# New buckets for the jobs in a CTE `put` (key, due_at, attempts, urgent, stamp), which have these
# stamps already: what {into_buckets} stands for.
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

# Which buckets a claim looks at, {among}: all of them, or those with fewer strikes.
ALL_KEYS = sql.SQL("true")
FEWER_STRIKES = sql.SQL("{strikes_now} < {fewer}")


def declared(namespace: str) -> type[Job]:
    """What a part declares of the namespace. Raises LookupError when none does."""
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
    """The query on the namespace's tables, {job} and {bucket}, with its limits and of strikes."""
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
    """One that no bucket has. Those that one statement makes may add to it."""
    return secrets.randbits(62)


def keys_of(rows: Iterable[object]) -> Iterable[int]:
    """The first column, which is a key."""
    return (cast("tuple[int]", row)[0] for row in rows)
