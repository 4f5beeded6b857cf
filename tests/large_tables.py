"""Many tracked tweets at once, and how many rows of them are read, by which way."""

from contextlib import contextmanager
from dataclasses import dataclass

from tests.queues import fill_buckets
from trackers.tweets.snowflake import LOW_BITS, TWEPOCH_MS
from tweetwatch.database import cursor

TWEETS, QUEUE, BUCKETS = "trackers_tweet", "trackers_tweetupdate", "trackers_tweetbucket"

# Births evenly over 29 days, measured an hour ago, all due; paid yesterday by turns, or by nobody.
FILL_TWEETS = f"""
    INSERT INTO {TWEETS} (id, created_at, tracked_at, came_from, paused, missing_reason,
                          taken_at, measured_until, measurements, paid_on, paid_by)
    SELECT (ms - {TWEPOCH_MS}) << {LOW_BITS} | n, to_timestamp(ms / 1000.0), now(), '', false, '',
           now() - interval '1 hour', now() - interval '1 hour', 1,
           (now() AT TIME ZONE 'UTC')::date - 1, (%(payers)s::int[])[n %% %(turns)s + 1]
    FROM (SELECT n, (extract(epoch FROM now()) * 1000
                     - 29 * 86400000.0 * n / (%(count)s + 1))::bigint AS ms
          FROM generate_series(1, %(count)s) n) births
    ORDER BY random()
"""
FILL_QUEUE = f"""
    INSERT INTO {QUEUE} (key, due_at, stamp)
    SELECT id, now() - interval '10 minutes', (row_number() OVER () - 1) / 100
    FROM (SELECT id FROM {TWEETS} ORDER BY random()) tweet
"""


ANALYZE = f"ANALYZE {TWEETS}, {QUEUE}, {BUCKETS}"


def fill(count, *, payers=(None,)):
    with cursor() as db:
        fill_by(db, count, payers=payers)


def fill_what_was_drained(count, *, payers=(None,)):
    """With statistics of tables that were emptied: the planner expects a row or two."""
    with cursor() as db:
        for table in (TWEETS, QUEUE, BUCKETS):
            db.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)", prepare=False)
        fill_by(
            db, count, then=(*(f"DELETE FROM {one}" for one in (TWEETS, QUEUE, BUCKETS)), ANALYZE)
        )
        fill_by(db, count, payers=payers, then=())


def fill_by(db, count, *, payers=(None,), then=(ANALYZE,)):
    """The same by a cursor or connection of psycopg's."""
    given = {"count": count, "payers": list(payers), "turns": len(payers)}
    db.execute(FILL_TWEETS, given, prepare=False)
    db.execute(FILL_QUEUE, prepare=False)
    fill_buckets(db)
    for statement in then:
        db.execute(statement, prepare=False)


@dataclass(frozen=True, slots=True)
class Read:
    """Rows that were read by walking over a table, and one by one through an index."""

    walked: dict[str, int]
    found: dict[str, int]


READ = """
    SELECT relname, seq_tup_read, coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables
    WHERE relname = ANY(%(tables)s)
"""


def counters():
    with cursor() as db:
        db.execute("SELECT pg_stat_force_next_flush()", prepare=False)
        rows = db.execute(READ, {"tables": [TWEETS, QUEUE]}, prepare=False).fetchall()
    return {table: (walked, found) for table, walked, found in rows}


@contextmanager
def reading():
    """What this connection reads of the two large tables meanwhile."""
    before, read = counters(), Read({}, {})
    yield read
    after = counters()
    for table, (walked, found) in after.items():
        read.walked[table] = walked - before[table][0]
        read.found[table] = found - before[table][1]
