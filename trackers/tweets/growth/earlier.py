"""The tweets that one is compared with: the newest few of its author, or of a source.

Only an author's own posts: X shows a retweet's counts as those of the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.tweets.archive.read import ArchiveAway, Asked, archived
from trackers.tweets.growth.at_ages import Born
from trackers.tweets.history import EVERY_RUN, Run
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import array, cursor

# At most `most` of {newest} are read, by an index in the order of ids. Texts are looked up one by
# one, by their key.
_OWN_POSTS = """
    SELECT t.id, t.created_at
    FROM ({newest}) AS t
    LEFT JOIN LATERAL (
        SELECT retweeted FROM trackers_tweettext WHERE tweet_id = t.id LIMIT 1
    ) AS said ON true
    WHERE t.created_at IS NOT NULL AND t.measurements > 0 AND t.version_of IS NULL
      AND said.retweeted IS NULL
    ORDER BY t.id DESC
"""
_TWEET_COLUMNS = "id, created_at, measurements, version_of"
_OF_AUTHOR = _OWN_POSTS.format(
    newest=f"""
        SELECT {_TWEET_COLUMNS} FROM trackers_tweet
        WHERE author_id = %(author)s AND id < %(below)s ORDER BY id DESC LIMIT %(most)s
    """
)
_OF_THESE = _OWN_POSTS.format(
    newest=f"""
        SELECT tweet.* FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
            SELECT {_TWEET_COLUMNS} FROM trackers_tweet WHERE id = asked.id LIMIT 1
        ) AS tweet
    """
)


def of_author(author_id: int, *, most: int, below: int = LARGEST_ID) -> list[Born]:
    """The author's newest tweets with an id lower than `below`, newest first."""
    return _read_born(_OF_AUTHOR, {"author": author_id, "below": below, "most": most})


def of_these(ids: list[int]) -> list[Born]:
    """Those of these ids that can be compared, newest first."""
    return _read_born(_OF_THESE, {"ids": array(ids)})


def _read_born(statement: str, params: dict[str, object]) -> list[Born]:
    with cursor() as db:
        return [Born(*row) for row in db.execute(statement, params)]


_FIRST_MONTH = timedelta(days=31)
_REACHED = f"""
    SELECT min(taken_at), min(taken_at) FILTER (WHERE {{metric}} >= %(half)s)
    FROM ({EVERY_RUN}) AS run WHERE tweet_id = %(id)s AND taken_at >= %(born)s
"""


@dataclass(frozen=True, slots=True)
class HalfLife:
    after: timedelta  # the age at which half was first measured
    at_most: bool  # it was the first measurement of all, so half may have been reached earlier


def half_life(id: int, born: datetime, metric: str, count: int | None) -> HalfLife | None:
    """The half-life; None while there is nothing to halve. ArchiveAway: it may be in a month that
    cannot be read."""
    assert metric in METRICS
    if not count or count < 2:
        return None
    half = -(-count // 2)
    with cursor() as db:
        params = {"id": id, "born": born, "half": half}
        row = db.execute(_REACHED.format(metric=metric), params).fetchone()
    here, reached_here = row or (None, None)
    first, reached = _reached_in_archive(id, born, metric, half)
    first, reached = first or here, reached or reached_here
    return HalfLife(reached - born, reached == first) if reached else None


def _reached_in_archive(
    id: int, born: datetime, metric: str, half: int
) -> tuple[datetime | None, datetime | None]:
    """When it was first measured, and when it first had half; nearly always in its first month, so
    that the years after it are not read."""
    first = None
    for until in (born + _FIRST_MONTH, None):
        found = archived([Asked(id, born, until)])
        if found.lacking:
            raise ArchiveAway(found.lacking)
        runs = sorted(run for run in map(Run._make, found.rows()) if run.taken_at >= born)
        if not runs:
            break
        first = runs[0].taken_at
        for run in runs:
            if (getattr(run, metric) or 0) >= half:
                return first, run.taken_at
    return first, None
