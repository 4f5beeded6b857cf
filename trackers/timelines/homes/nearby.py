"""Finds what is next to an anchor in a home, among all tweets near the anchor.

To find the one tweet of an origin next to an anchor, PostgreSQL reads a whole index page per
origin. So for a follower of many origins only the neighbourhood of the anchor is searched first:
TOGETHER takes all tweets there and keeps those of followed origins, EACH asks every followed origin
for its tweets there. If one finds too few, its result is discarded. A follower of few origins needs
neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from trackers.timelines.homes.page import Way
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import compact_sql

# At most this many candidates are searched for in this way.
MAX_NEARBY = 100
# Up to FEW followed origins are read directly; with more than SOME, TOGETHER is tried first.
MAX_READ_EACH, MIN_READ_TOGETHER = 40, 400
# How many tweets of all sources make up the neighbourhood.
_NEAR_TOGETHER, NEAR_EACH = 1_000, 3_000

FOLLOWED = compact_sql(f"""
    SELECT count(*) FROM (
        SELECT FROM trackers_follow WHERE follower_id = %(follower)s
        LIMIT {MIN_READ_TOGETHER + 1}) f
""")

# {beyond}, {within}, {inside}: <, >= and > on the way to older tweets.
# What was found, and whether it is shown. Tweets that are untracked or gone are not shown, but are
# returned all the same: the caller must know where to continue.
NEAREST = """
    SELECT nearest.id, tweet.is_shown IS TRUE
    FROM (SELECT id FROM found ORDER BY id {order} LIMIT %(limit)s::int) nearest
    LEFT JOIN LATERAL (
        SELECT gone_at IS NULL AS is_shown FROM trackers_tweet WHERE id = nearest.id LIMIT 1
    ) tweet ON true
    ORDER BY nearest.id {order}
"""
# What followed accounts posted. LATERAL with a LIMIT: by the index, whatever the statistics say.
_POSTED = """
        SELECT tweet.id
        FROM trackers_follow f CROSS JOIN LATERAL (
            SELECT id FROM trackers_tweet
            WHERE author_id = -f.origin_id AND id {beyond} %(anchor)s::bigint
              AND id {inside} (SELECT id FROM reach)
            ORDER BY id {order} LIMIT %(limit)s::int) tweet
        WHERE f.follower_id = %(follower)s AND f.origin_id < 0
"""
# The LIMIT is not a parameter: for an unknown one the planner expects a tenth of the table.
# `reach`: exclusive, since of the last tweet of a full list some sources may be missing.
_TOGETHER = (
    f"""
    WITH brought AS MATERIALIZED (
        SELECT tweet_id AS id, source_id FROM trackers_sourcetweet
        WHERE tweet_id {{beyond}} %(anchor)s::bigint
        ORDER BY tweet_id {{order}} LIMIT {_NEAR_TOGETHER}
    ),
    reach AS MATERIALIZED (
        SELECT coalesce(
            (SELECT {{last}}(id) FROM brought HAVING count(*) = {_NEAR_TOGETHER}), {{end}}) AS id
    ),
    followed AS MATERIALIZED (
        SELECT origin_id FROM trackers_follow WHERE follower_id = %(follower)s AND origin_id > 0
    ),
    found AS (
        SELECT id FROM brought
        WHERE source_id IN (SELECT origin_id FROM followed) AND id {{inside}} (SELECT id FROM reach)
        UNION
        {_POSTED}
    )
    """
    + NEAREST
)
_EACH = (
    f"""
    WITH reach AS MATERIALIZED (
        SELECT coalesce(
            (SELECT tweet_id FROM trackers_sourcetweet WHERE tweet_id {{beyond}} %(anchor)s::bigint
             ORDER BY tweet_id {{order}} OFFSET {NEAR_EACH - 1} LIMIT 1), {{end}}) AS id
    ),
    found AS (
        SELECT tweet.id
        FROM trackers_follow f CROSS JOIN LATERAL (
            SELECT tweet_id AS id FROM trackers_sourcetweet
            WHERE source_id = f.origin_id AND tweet_id {{beyond}} %(anchor)s::bigint
              AND tweet_id {{inside}} (SELECT id FROM reach)
            ORDER BY tweet_id {{order}} LIMIT %(limit)s::int) tweet
        WHERE f.follower_id = %(follower)s AND f.origin_id > 0
        UNION
        {_POSTED}
    )
    """
    + NEAREST
)
_SQL_OF_DIRECTION: dict[Way, dict[str, object]] = {
    "older": {
        "beyond": "<", "within": ">=", "inside": ">", "order": "DESC", "last": "min", "end": 0,
    },
    "newer": {
        "beyond": ">", "within": "<=", "inside": "<", "order": "ASC", "last": "max",
        "end": LARGEST_ID,
    },
}  # fmt: skip


def on_the_way(statement: str, way: Way) -> str:
    return compact_sql(statement.format(**_SQL_OF_DIRECTION[way]))


_TOGETHER_OF, _EACH_OF = (
    {way: on_the_way(statement, way) for way in _SQL_OF_DIRECTION}
    for statement in (_TOGETHER, _EACH)
)


def tries(way: Way, *, followed: int, limit: int) -> Iterator[str]:
    """The statements to try in turn, until one finds as many as are wanted."""
    if limit > MAX_NEARBY or followed <= MAX_READ_EACH:
        return
    if followed > MIN_READ_TOGETHER:
        yield _TOGETHER_OF[way]
    yield _EACH_OF[way]
