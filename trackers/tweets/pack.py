"""Older samples become one row of arrays per tweet and month: a third of the space.

rows of a partition whose time is over for 18 hours ─> appended to the month's arrays
A few thousand tweets a transaction: whoever reads meanwhile sees a tweet's rows or its arrays,
never both or neither, and no save waits. What is empty then is dropped.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import OperationalError, ProgrammingError, transaction
from psycopg import sql
from psycopg.errors import UndefinedTable

from trackers.tweets.partitions import DEFAULT, PATIENCE, existing
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

# Six hours of a partition and these are a day: each sample is packed when it is a day old.
SETTLED_AFTER = timedelta(hours=18)
DAY = timedelta(days=1)
TWEETS_AT_ONCE = 5_000

NEXT_TWEETS = """
    SELECT max(tweet_id) FROM (
        SELECT DISTINCT tweet_id FROM {rows} WHERE tweet_id > %(after)s
        ORDER BY tweet_id LIMIT %(limit)s
    ) next_tweets
"""

# The arrays keep the order of time: what is appended is younger than what was there, except for
# belated samples, so readers sort all the same.
PACK = """
    WITH taken AS (
        DELETE FROM {rows}
        WHERE tweet_id > %(after)s AND tweet_id <= %(last)s AND measured_until < %(before)s
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
    for partition in existing():
        if partition.end + SETTLED_AFTER <= now:
            try:
                pack_rows(partition.name, before=partition.end)
                dropped += drop(partition.name)
            except ProgrammingError as fault:
                # Another housekeeper has packed and dropped it meanwhile.
                if not isinstance(fault.__cause__, UndefinedTable):
                    raise
    pack_rows(DEFAULT, before=now - DAY)
    return dropped


def pack_rows(name: str, *, before: datetime) -> None:
    rows = sql.Identifier(name)
    after = -1
    while True:
        with transaction.atomic(), cursor() as db:
            some = {"after": after, "limit": TWEETS_AT_ONCE}
            found = db.execute(sql.SQL(NEXT_TWEETS).format(rows=rows), some).fetchone()
            if found is None or found[0] is None:
                return
            span = {"after": after, "last": found[0], "before": before}
            db.execute(sql.SQL(PACK).format(rows=rows), span)
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
