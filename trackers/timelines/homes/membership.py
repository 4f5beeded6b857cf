"""Whether a tweet is in a home: some followed source or account has it, and it is not deleted.

What is built may hold more than that: tweets deleted or untracked since, or a delivery that was
under way during an unfollow. So the ids of each page are checked before it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tweetwatch.database import array, compact_sql, cursor

# Scalar subqueries, as the planner may answer EXISTS from a hash of a whole table.
_IS_BROUGHT = """
    coalesce(
        (SELECT true FROM trackers_follow f
         WHERE f.follower_id = %(follower)s AND f.origin_id = -t.author_id LIMIT 1),
        (SELECT true FROM trackers_sourcetweet st CROSS JOIN LATERAL (
             SELECT FROM trackers_follow
             WHERE follower_id = %(follower)s AND origin_id = st.source_id LIMIT 1) f
         WHERE st.tweet_id = {id} LIMIT 1),
        false)
"""
_ASKED = f"""
    unnest(%(ids)s::bigint[]) WITH ORDINALITY AS asked(id, nth)
    LEFT JOIN LATERAL (
        SELECT t.gone_at IS NULL AND {_IS_BROUGHT.format(id="t.id")} AS is_shown
        FROM trackers_tweet t WHERE t.id = asked.id LIMIT 1
    ) tweet ON true
"""
_SHOWN = compact_sql(f"SELECT asked.id, tweet.is_shown IS TRUE FROM {_ASKED} ORDER BY asked.nth")
# Also the home's state in the same snapshot: at least one row.
_STILL_SHOWN = f"""
    SELECT asked.id, tweet.is_shown IS TRUE, state.floor, state.built_at
    FROM (SELECT) once LEFT JOIN ({{state}}) state ON true LEFT JOIN ({_ASKED}) ON true
    ORDER BY asked.nth
"""

# Works for untracked tweets too: one that is tracked again is back.
_UNBROUGHT = compact_sql(f"""
    SELECT asked.id
    FROM unnest(%(ids)s::bigint[]) AS asked(id)
    LEFT JOIN LATERAL (
        SELECT author_id FROM trackers_tweet WHERE id = asked.id LIMIT 1) t ON true
    WHERE NOT {_IS_BROUGHT.format(id="asked.id")}
""")


@cache
def still_shown(state: str) -> str:
    return compact_sql(_STILL_SHOWN.format(state=state))


def unbrought(follower_id: int, ids: Sequence[int]) -> list[int]:
    """The ids that nothing followed by the follower brings."""
    if not ids:
        return []
    with cursor() as db:
        return [
            row[0] for row in db.execute(_UNBROUGHT, {"follower": follower_id, "ids": array(ids)})
        ]


def ids_in_home(follower_id: int, ids: Sequence[int]) -> list[int]:
    """The ids that are in the home now, in the given order."""
    if not ids:
        return []
    with cursor() as db:
        rows = db.execute(_SHOWN, {"follower": follower_id, "ids": array(ids)})
        return [id for id, is_shown in rows if is_shown]
