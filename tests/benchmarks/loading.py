"""Many tracked tweets, put straight into the tables: each measured once, an hour ago.

The ids are those of the fake's world, so that it knows them. How they come in by the front door is
measured elsewhere (`burst`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import psycopg

from fakex.world.ids import Ids
from tests.benchmarks.database import Database
from tests.benchmarks.processes import SEED
from tests.queues import fill_buckets

# In the order of ids, as they lie in a database that tracked them as they were born.
TWEETS = """
    INSERT INTO trackers_tweet (id, created_at, tracked_at, came_from, paused, missing_reason,
                                taken_at, measured_until, measurements,
                                retweets, replies, likes, quotes, bookmarks, views{columns})
    SELECT id, to_timestamp(((id >> 22) + 1288834974657) / 1000.0), now(), 'bench', false, '',
           now() - interval '1 hour', now() - interval '1 hour', 1, 0, 0, 0, 0, 0, 0{values}
    FROM loaded ORDER BY id
"""
# Due in no order of ids: neighbours in the table were born together, and are never due together.
JOBS = """
    INSERT INTO trackers_tweetupdate (key, due_at, stamp)
    SELECT id, due_at, floor(extract(epoch FROM due_at))::bigint
    FROM (SELECT id, now() + {due} AS due_at FROM loaded) one ORDER BY id
"""
ALL_DUE = "(random() - 1) * interval '10 minutes'"
NOT_DUE = "interval '1 hour' + random() * interval '1 day'"

# Columns that came after these lines were written and have no default.
REQUIRED = """
    SELECT column_name, data_type FROM information_schema.columns
    WHERE table_name = 'trackers_tweet' AND is_nullable = 'NO' AND column_default IS NULL
      AND is_identity = 'NO' AND column_name <> ALL(%s)
"""
FILLED = ["id", "tracked_at", "came_from", "paused", "missing_reason", "measurements"]
EMPTY = {
    "boolean": "false",
    "text": "''",
    "character varying": "''",
    "jsonb": "'{}'",
    "ARRAY": "'{}'",
    "timestamp with time zone": "now()",
    "interval": "interval '0'",
}

NO_INTERVALS = "DELETE FROM trackers_interval"
INTERVAL = """
    INSERT INTO trackers_interval (younger_than, every, jitter, enabled)
    VALUES (interval '10000 days', %s, %s, true)
"""
ADAPTING_INTERVAL = """
    INSERT INTO trackers_interval
        (younger_than, every, jitter, enabled, accuracy, at_most, at_least)
    VALUES (interval '10000 days', %(wait)s, 0.5, true, 0.05, interval '1 second', %(wait)s)
"""


def load(
    database: Database, *, tweets: int, start_ms: int, due: str = ALL_DUE, first: int = 0
) -> list[int]:
    """Track tweets number `first` to `tweets` of the fake's world; some of their ids."""
    ids = Ids(seed=SEED, tweets=tweets, start_ms=start_ms)
    with database.connect() as db:
        fill(db, ids.between(first, tweets), due=due)
    return [ids.id_at(number) for number in range(first, min(tweets, first + 100))]


def fill(db: psycopg.Connection[Any], ids: Iterable[int], *, due: str) -> None:
    db.execute("CREATE TEMP TABLE loaded (id bigint)")
    with db.cursor().copy("COPY loaded FROM STDIN") as copy:
        for id in ids:
            copy.write(b"%d\n" % id)
    required = db.execute(REQUIRED, (FILLED,)).fetchall()
    columns = "".join(f", {name}" for name, _ in required)
    values = "".join(f", {EMPTY.get(kind, '0')}" for _, kind in required)
    db.execute(TWEETS.format(columns=columns, values=values))
    db.execute(JOBS.format(due=due))
    db.execute("DROP TABLE loaded")
    fill_buckets(db)
    for table in ("trackers_tweet", "trackers_tweetupdate", "trackers_tweetbucket"):
        db.execute(f"VACUUM (ANALYZE) {table}")


def every(database: Database, interval: str, *, jitter: float = 0.0) -> None:
    """One interval for tweets of all ages."""
    database.sql(NO_INTERVALS)
    database.sql(INTERVAL, (interval, jitter))


def adapt(database: Database, *, at_least: timedelta) -> None:
    """One interval that adapts, for tweets of all ages. Most wait half to one and a half times
    `at_least`, since old tweets grow slowly: those of a batch end in many buckets, not in one."""
    database.sql(NO_INTERVALS)
    database.sql(ADAPTING_INTERVAL, {"wait": at_least})
