"""Several sets in the same period: their figures, by day, and what their posts had by age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.sets.figures import MIN_POSTS, Step, Summary
from trackers.sets.kinds import TweetSet
from trackers.sets.members import Members, newest_members
from trackers.sets.period_figures import MAX_POSTS, SET_AGES, headline_of, split_periods
from trackers.sets.periods import Period, TimeSpan
from trackers.sets.posts import read_posts
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.growth.quantiles import quantile

# By age, so many of the newest are read: all their checkpoints.
MAX_BY_AGE = 200


@dataclass(frozen=True, slots=True)
class ComparedSet:
    of: TweetSet
    this: Summary
    before: Summary | None
    newest_since: datetime | None  # None: the figures are of all posts
    steps: list[Step]
    # The median of the newest MAX_BY_AGE at each of AGES, where five or more were measured.
    by_age: dict[timedelta, float]
    aged: int  # of how many posts


def compared_set(
    of: TweetSet, period: Period, *, age: str, metric: str, matches: Members | None = None
) -> ComparedSet:
    """Four statements; `age` and `matches` as for `period_figures`."""
    span = TimeSpan(period.before.since, period.this.until)
    members = newest_members(of, span, most=2 * MAX_POSTS + 1, matches=matches)
    both = split_periods(members, period)
    posts = read_posts([*both.this, *(both.before or ())], age=SET_AGES[age], metric=metric)
    this, before = both.posts_of(posts)
    headline = headline_of(of, period, this, before, age=age, metric=metric)
    # Of younger ones nothing is known at most ages.
    old, _ = period.old_enough(SET_AGES[age])
    newest = [post.id for post in this if post.at in old][:MAX_BY_AGE]
    return ComparedSet(
        of=of,
        this=headline.this,
        before=headline.before,
        newest_since=None if headline.is_summed else both.newest_since(this),
        steps=headline.steps,
        by_age=_medians(newest, metric),
        aged=len(newest),
    )


def _medians(ids: Sequence[int], metric: str) -> dict[timedelta, float]:
    known = checkpoints_of(ids)
    medians = {}
    for age in AGES:
        at = (getattr(of_tweet[age], metric) for of_tweet in known.values() if age in of_tweet)
        counts = sorted(count for count in at if count is not None)
        if len(counts) >= MIN_POSTS:
            medians[age] = quantile(counts, 0.5)
    return medians
