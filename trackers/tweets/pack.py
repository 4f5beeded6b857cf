"""Older samples become one row of arrays per tweet and month: a third of the space.

rows of a UTC day that is over ─> appended to the month's arrays, a tweet's all at once
A few thousand tweets a transaction: whoever reads meanwhile sees a tweet's rows or its arrays,
never both or neither, and no save waits. What is empty then is dropped.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from django.db import OperationalError, ProgrammingError, transaction
from psycopg import sql
from psycopg.errors import UndefinedTable

from trackers.tweets.partitions import DEFAULT, PATIENCE, existing
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

# So that a sample is packed when it is a day old. Partition by partition a tweet's row would be
# written four times a day, each time larger than the place that the last one left.
SETTLED_AFTER = timedelta(minutes=30)
DAY = timedelta(days=1)
EVER = datetime(1970, 1, 1, tzinfo=UTC)
TWEETS_AT_ONCE = 5_000

NEXT_TWEETS = """
    SELECT max(tweet_id) FROM (
        SELECT DISTINCT tweet_id FROM {rows}
        WHERE tweet_id > %(after)s AND measured_until >= {start} AND measured_until < {end}
        ORDER BY tweet_id LIMIT %(limit)s
    ) next_tweets
"""

# The arrays keep the order of time: what is appended is younger than what was there, except for
# belated samples, so readers sort all the same.
PACK = """
    WITH taken AS (
        DELETE FROM {rows}
        WHERE tweet_id > %(after)s AND tweet_id <= %(last)s
          AND measured_until >= {start} AND measured_until < {end}
        RETURNING *
    )
    INSERT INTO trackers_packedsamples AS packed
        (tweet_id, month, taken_at, measured_until, measurements,
         retweets, replies, likes, quotes, bookmarks, impressions)
    SELECT tweet_id, date_trunc('month', taken_at AT TIME ZONE 'UTC')::date AS month,
           array_agg(taken_at ORDER BY taken_at), array_agg(measured_until ORDER BY taken_at),
           array_agg(measurements ORDER BY taken_at), array_agg(retweets ORDER BY taken_at),
           array_agg(replies ORDER BY taken_at), array_agg(likes ORDER BY taken_at),
           array_agg(quotes ORDER BY taken_at), array_agg(bookmarks ORDER BY taken_at),
           array_agg(impressions ORDER BY taken_at)
    FROM taken
    GROUP BY tweet_id, month ORDER BY tweet_id, month
    ON CONFLICT (tweet_id, month) DO UPDATE SET
        taken_at = packed.taken_at || excluded.taken_at,
        measured_until = packed.measured_until || excluded.measured_until,
        measurements = packed.measurements || excluded.measurements,
        retweets = packed.retweets || excluded.retweets,
        replies = packed.replies || excluded.replies,
        likes = packed.likes || excluded.likes,
        quotes = packed.quotes || excluded.quotes,
        bookmarks = packed.bookmarks || excluded.bookmarks,
        impressions = packed.impressions || excluded.impressions
"""

# Dropping locks the parent for a moment, and the saves behind it; see PATIENCE.
LOCK = "LOCK TABLE ONLY trackers_sample, {rows} IN ACCESS EXCLUSIVE MODE"
EMPTY = "SELECT NOT EXISTS (SELECT FROM {rows})"
DROP = "DROP TABLE {rows}"

RETIRE = (
    "DELETE FROM trackers_packedsamples WHERE month < date_trunc('month', %(before)s::timestamptz)"
)


def pack(*, now: datetime) -> int:
    """Pack what has settled; how many partitions are done with. A busy one waits for next time."""
    dropped = 0
    for start, names in settled(now=now).items():
        try:
            pack_rows("trackers_sample", start=start, end=start + DAY)
            dropped += sum(drop(name) for name in names)
        except ProgrammingError as fault:
            # Another housekeeper has packed and dropped it meanwhile.
            if not isinstance(fault.__cause__, UndefinedTable):
                raise
    pack_rows(DEFAULT, start=EVER, end=now - DAY)
    return dropped


def settled(*, now: datetime) -> dict[datetime, list[str]]:
    """The days of which all is measured, oldest first, each with the names of its partitions."""
    days: dict[datetime, list[str]] = {}
    for partition in existing():
        start = partition.start.replace(hour=0)
        if start + DAY + SETTLED_AFTER <= now:
            days.setdefault(start, []).append(partition.name)
    return days


def pack_rows(name: str, *, start: datetime, end: datetime) -> None:
    # Literals, by which the planner leaves out the partitions of other days.
    where = {
        "rows": sql.Identifier(name),
        "start": sql.Literal(start),
        "end": sql.Literal(end),
    }
    next_tweets, pack_them = sql.SQL(NEXT_TWEETS).format(**where), sql.SQL(PACK).format(**where)
    after = -1
    while True:
        with transaction.atomic(), cursor() as db:
            some = {"after": after, "limit": TWEETS_AT_ONCE}
            found = db.execute(next_tweets, some).fetchone()
            if found is None or found[0] is None:
                return
            db.execute(pack_them, {"after": after, "last": found[0]})
        after = found[0]


def drop(name: str) -> bool:
    """Drop a partition that is empty; False when it is not, or when locks stood in the way."""
    rows = sql.Identifier(name)
    try:
        with transaction.atomic(), cursor() as db:
            db.execute(PATIENCE)
            db.execute(sql.SQL(LOCK).format(rows=rows))
            found = db.execute(sql.SQL(EMPTY).format(rows=rows)).fetchone()
            if not (found and found[0]):
                return False
            db.execute(sql.SQL(DROP).format(rows=rows))
    except OperationalError as busy:
        logger.warning("partition %s is not dropped yet: %s", name, str(busy).strip())
        return False
    return True


def retire(*, older_than: timedelta, now: datetime) -> int:
    """Forget whole months that ended before the retention; how many rows of arrays that was."""
    with cursor() as db:
        return db.execute(RETIRE, {"before": now - older_than}).rowcount
