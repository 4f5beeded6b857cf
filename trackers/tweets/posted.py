"""How many tweets of an author are tracked."""

from __future__ import annotations

from tweetwatch.database import cursor

# More are not counted: the page says "more than".
MAX_COUNTED_TWEETS = 5_000

COUNT_TRACKED = """
    SELECT count(*)::int FROM (
        SELECT FROM trackers_tweet WHERE author_id = %(author)s ORDER BY id DESC LIMIT %(most)s
    ) AS newest
"""


def count_tracked(author_id: int) -> int:
    """How many are tracked, or MOST + 1 if there are more than MOST."""
    with cursor() as db:
        row = db.execute(
            COUNT_TRACKED, {"author": author_id, "most": MAX_COUNTED_TWEETS + 1}
        ).fetchone()
    assert row is not None
    return int(row[0])
