"""Make authors' benchmarks: hourly at most, for those whose posts crossed an age."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from trackers.scores.rule import MAX_POSTS, MIN_POSTS
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import LARGEST_ID, first_id_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

MAKE_AFTER = timedelta(hours=1)
# Posts are read below the ids of these ages; below each some of which only a part has the kind.
_READ_BELOW = [timedelta(hours=hours) for hours in (1, 6, 24, 72, 168, 336, 720)]
_MOST_READ = 3 * MAX_POSTS


def _each(template: str) -> str:
    return ", ".join(template.format(metric=metric) for metric in METRICS)


MAKE = statement(
    __file__,
    "make",
    most_read=_MOST_READ,
    most_posts=MAX_POSTS,
    ages=len(AGES),
    ordered=_each(
        "array_agg({metric} ORDER BY {metric}) FILTER (WHERE {metric} IS NOT NULL) AS {metric}"
    ),
    counted=_each("{metric}_posts"),
    # The middle half: a quarter is left out at either end.
    counted_and_mean=_each(
        "coalesce(cardinality({metric}), 0) AS {metric}_posts,"
        f" CASE WHEN cardinality({{metric}}) >= {MIN_POSTS} THEN ("
        "     SELECT avg(v)::float8 FROM unnest({metric}[cardinality({metric}) / 4 + 1 :"
        "         cardinality({metric}) - cardinality({metric}) / 4]) AS v) END AS {metric}"
    ),
    risen=_each("CASE WHEN {metric} IS NOT NULL THEN max({metric}) OVER by_age END AS {metric}"),
    expected_arrays=_each("array_agg({metric} ORDER BY every.age)"),
    posts_arrays=_each("array_agg(coalesce({metric}_posts, 0) ORDER BY every.age)"),
    is_enough=f"max(greatest({_each('{metric}_posts')})) >= {MIN_POSTS}",
)
# Authors of tweets that crossed an age; at once where none were made in the last hour.
_MARK_DUE = """
    INSERT INTO trackers_benchmarkauthor AS b (author_id, due_at)
    SELECT DISTINCT author_id, %(now)s::timestamptz FROM (
        SELECT t.author_id FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
            SELECT author_id FROM trackers_tweet WHERE id = asked.id LIMIT 1) t
    ) t WHERE author_id IS NOT NULL ORDER BY author_id
    ON CONFLICT (author_id) DO UPDATE
        SET due_at = greatest(%(now)s, b.made_at + %(make_after)s) WHERE b.due_at IS NULL
"""
_FIND_DUE = """
    SELECT author_id FROM trackers_benchmarkauthor WHERE due_at <= %(now)s
    ORDER BY due_at LIMIT %(most)s
"""
# The planner overestimates a piece by far, and JIT compiling takes longer than running it.
INTERPRETED = "SET LOCAL jit = off"


def mark_due(ids: Iterable[int], *, now: datetime) -> None:
    """Have the benchmarks of these tweets' authors made again."""
    params = {"ids": array(ids), "now": now, "make_after": MAKE_AFTER}
    with cursor() as db:
        db.execute(_MARK_DUE, params)


def make_due(*, most: int, now: datetime) -> int:
    """Make the benchmarks of the authors that have been due longest; return of how many."""
    with cursor() as db:
        due = [id for (id,) in db.execute(_FIND_DUE, {"now": now, "most": most})]
    if due:
        make_benchmarks(due, now=now)
    return len(due)


def make_benchmarks(authors: Iterable[int], *, now: datetime) -> None:
    """Make what is usual for these authors from their posts' checkpoints. In a transaction."""
    params = {"authors": array(sorted(set(authors))), "below": bounds(now), "now": now}
    with cursor() as db:
        db.execute(INTERPRETED)
        db.execute(MAKE, params, prepare=False)


def bounds(now: datetime) -> list[int]:
    """Below which ids posts are read: of any age, and of those that have passed some ages."""
    return [
        LARGEST_ID,
        *(first_id_at(int((now - age).timestamp() * 1000)) for age in _READ_BELOW),
    ]
