"""All figures of a set in a period, from the checkpoints of at most 3,000 posts.

members, the newest 6,000 of both periods and of the heat map ─> their posts ─> figures
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from trackers.sets.figures import (
    BestTime,
    Class,
    HeatMap,
    Part,
    Step,
    Summary,
    best,
    best_times,
    by_step,
    distribution,
    heat_map,
    parts,
    summary,
    worst,
)
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.large import summed_period
from trackers.sets.members import Members, newest_members
from trackers.sets.periods import LAST_24_HOURS, Period, TimeSpan
from trackers.sets.posts import Post, read_posts

MAX_POSTS = 3000
# At which posts may be compared; the first is what a period has if nobody chooses.
SET_AGES = {"24h": timedelta(days=1), "1h": timedelta(hours=1), "7d": timedelta(days=7)}
# The heat map is of so long, whatever the period: in a week few of its hours have five posts.
HEAT_DAYS = timedelta(days=90)
_MOST_PARTS = 10


@dataclass(frozen=True, slots=True)
class PeriodFigures:
    period: Period
    age: str  # of SET_AGES
    metric: str
    this: Summary
    before: Summary | None  # None: not all of it is known, so that nothing can be compared
    is_summed: bool  # both, and the steps, are of all posts, however many
    # None: all posts of the period were read; else those from then on, the newest. What is not
    # summed up is of these.
    newest_since: datetime | None
    steps: list[Step]
    best: list[Post]
    worst: list[Post]
    distribution: list[Class]
    kinds: list[Part]
    authors: list[Part]
    languages: list[Part]
    heat: HeatMap
    heat_span: TimeSpan
    best_times: list[BestTime]


def default_age(period: str) -> str:
    """Of a period by its name. No post of the last 24 hours is a day old."""
    return "1h" if period == LAST_24_HOURS else "24h"


@dataclass(frozen=True, slots=True)
class BothPeriods:
    """Ids, the newest first."""

    this: list[int]
    before: list[int] | None  # None: not all of both are known, so that nothing can be compared
    is_whole: bool  # all of this period

    def posts_of(self, posts: Mapping[int, Post]) -> tuple[list[Post], list[Post] | None]:
        """Of those that were read."""
        this, before = (
            None if ids is None else [posts[id] for id in ids if id in posts]
            for ids in (self.this, self.before)
        )
        return this or [], before

    def newest_since(self, this: Iterable[Post]) -> datetime | None:
        """Since when the posts are all that there are; None where these are the whole period."""
        return None if self.is_whole else min((post.at for post in this), default=None)


def split_periods(members: Members, period: Period) -> BothPeriods:
    this, is_whole = _newest(members, period.this)
    before, is_before_whole = _newest(members, period.before)
    return BothPeriods(this, before if is_whole and is_before_whole else None, is_whole)


@dataclass(frozen=True, slots=True)
class Headline:
    this: Summary
    before: Summary | None
    steps: list[Step]
    is_summed: bool


def headline_of(
    of: TweetSet,
    period: Period,
    this: list[Post],
    before: list[Post] | None,
    *,
    age: str,
    metric: str,
) -> Headline:
    """From the posts; where they are not all of both periods (`before` is None), from rollups, but
    for the share above usual."""
    old, old_before = period.old_enough(SET_AGES[age])
    read = summary(this, old, metric)
    if before is not None:
        steps = by_step(period.steps, this, before, metric)
        return Headline(read, summary(before, old_before, metric), steps, is_summed=False)
    summed = summed_period(of, period, age=SET_AGES[age], metric=metric)
    # Rollups of a set that has just begun are not made yet.
    if summed is None or summed.this.posts < len(this):
        steps = by_step(period.steps, this, None, metric)
        return Headline(read, None, steps, is_summed=False)
    whole = replace(summed.this, scored=read.scored, above=read.above)
    return Headline(whole, summed.before, summed.steps, is_summed=True)


def period_figures(
    of: TweetSet,
    period: Period,
    *,
    age: str,
    metric: str,
    matches: Members | None = None,
) -> PeriodFigures:
    """`age`: of SET_AGES; `matches`: those of a saved view. A constant number of statements."""
    heat_span = TimeSpan(period.this.until - HEAT_DAYS, period.this.until)
    since = min(period.before.since, heat_span.since)
    everything = TimeSpan(since, period.this.until)
    members = newest_members(of, everything, most=2 * MAX_POSTS + 1, matches=matches)
    both = split_periods(members, period)
    heat_ids, _ = _newest(members, heat_span)
    wanted = dict.fromkeys([*both.this, *(both.before or ()), *heat_ids])
    posts = read_posts(wanted, age=SET_AGES[age], metric=metric)
    this, before = both.posts_of(posts)
    for_heat = [posts[id] for id in heat_ids if id in posts]
    old, _ = period.old_enough(SET_AGES[age])
    measured = [post for post in this if post.at in old]
    heat = heat_map(for_heat, period.zone, metric)
    headline = headline_of(of, period, this, before, age=age, metric=metric)
    return PeriodFigures(
        period=period,
        age=age,
        metric=metric,
        this=headline.this,
        before=headline.before,
        is_summed=headline.is_summed,
        newest_since=both.newest_since(this),
        steps=headline.steps,
        best=best(measured, metric),
        worst=worst(measured),
        distribution=distribution(measured, metric),
        kinds=parts(this, old, metric, lambda post: post.kind, most=_MOST_PARTS),
        authors=parts(this, old, metric, lambda post: post.author, most=_MOST_PARTS)
        if of.has_authors
        else [],
        languages=parts(this, old, metric, lambda post: post.lang, most=_MOST_PARTS)
        if of.kind != SetKind.LANGUAGE
        else [],
        heat=heat,
        heat_span=heat_span,
        best_times=best_times(heat, for_heat, period.zone, metric),
    )


def _newest(members: Members, span: TimeSpan) -> tuple[list[int], bool]:
    """The newest MAX_POSTS of the time, and whether these are all."""
    ids = members.within(span)
    return ids[:MAX_POSTS], len(ids) <= MAX_POSTS and members.has_all_of(span)
