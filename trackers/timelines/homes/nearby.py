"""Finds what is next to an anchor in a home, among all tweets near the anchor.

To find the one tweet of an origin next to an anchor, PostgreSQL reads a whole index page per
origin. So for a follower of many origins only the neighbourhood of the anchor is searched first:
TOGETHER takes all tweets there and keeps those of followed origins, EACH asks every followed origin
for its tweets there. If one finds too few, its result is discarded. A follower of few origins needs
neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trackers.timelines.homes.page import Way
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import compact_sql
from tweetwatch.statements import fill, statement

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
_SQL_OF_DIRECTION: dict[Way, dict[str, Any]] = {
    "older": {
        "beyond": "<", "within": ">=", "inside": ">", "order": "DESC", "last": "min", "end": 0,
    },
    "newer": {
        "beyond": ">", "within": "<=", "inside": "<", "order": "ASC", "last": "max",
        "end": LARGEST_ID,
    },
}  # fmt: skip


_NEAREST = statement(__file__, "_nearest", open=["order"])
_POSTED = statement(__file__, "_posted", open=["beyond", "inside", "order"])


def both_ways(name: str, *directions: str, **parts: object) -> dict[Way, str]:
    """The statement in that file on the way to older tweets, and to newer ones."""
    return {
        way: statement(
            __file__,
            name,
            open=(),
            **{direction: of_way[direction] for direction in directions},
            **{part: fill(str(text), of_way) for part, text in parts.items()},
            nearest=fill(_NEAREST, of_way),
        )
        for way, of_way in _SQL_OF_DIRECTION.items()
    }


_TOGETHER_OF = both_ways(
    "near_together", "beyond", "inside", "order", "last", "end",
    posted=_POSTED, near_together=_NEAR_TOGETHER,
)  # fmt: skip
_EACH_OF = both_ways(
    "near_each", "beyond", "inside", "order", "end", posted=_POSTED, last_place=NEAR_EACH - 1
)


def tries(way: Way, *, followed: int, limit: int) -> Iterator[str]:
    """The statements to try in turn, until one finds as many as are wanted."""
    if limit > MAX_NEARBY or followed <= MAX_READ_EACH:
        return
    if followed > MIN_READ_TOGETHER:
        yield _TOGETHER_OF[way]
    yield _EACH_OF[way]
