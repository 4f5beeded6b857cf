"""How many tweets of an author are tracked, by the UTC day on which they were posted."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import cursor

# More are not counted: the page says "more than".
MAX_COUNTED_TWEETS = 5_000

# Ids carry their time, and the author's index has them in order.
BY_DAY = """
    SELECT (to_timestamp(((id >> 22) + 1288834974657) / 1000.0) AT TIME ZONE 'UTC')::date,
           count(*)::int
    FROM (
        SELECT id FROM trackers_tweet WHERE author_id = %(author)s AND id >= %(from_id)s
        ORDER BY id DESC LIMIT %(most)s
    ) AS newest
    GROUP BY 1
"""
COUNT_TRACKED = """
    SELECT count(*)::int FROM (
        SELECT FROM trackers_tweet WHERE author_id = %(author)s ORDER BY id DESC LIMIT %(most)s
    ) AS newest
"""


def posted_by_day(author_id: int, *, since: date) -> dict[date, int]:
    """Counts of the newest MOST tweets by day; days without any are left out."""
    at = datetime.combine(since, time(), UTC)
    params = {
        "author": author_id,
        "from_id": first_id_at(int(at.timestamp() * 1000)),
        "most": MAX_COUNTED_TWEETS,
    }
    with cursor() as db:
        return dict(db.execute(BY_DAY, params).fetchall())


def count_tracked(author_id: int) -> int:
    """How many are tracked, or MOST + 1 if there are more than MOST."""
    with cursor() as db:
        row = db.execute(
            COUNT_TRACKED, {"author": author_id, "most": MAX_COUNTED_TWEETS + 1}
        ).fetchone()
    assert row is not None
    return int(row[0])
