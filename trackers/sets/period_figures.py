"""All figures of a set in a period, from the checkpoints of at most 3,000 posts.

members, the newest 6,000 of both periods and of the heat map ─> their posts ─> figures
"""

from __future__ import annotations

from dataclasses import dataclass
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
    # None: it has more posts than are read, so that nothing can be compared.
    before: Summary | None
    # None: the figures are of all posts; else only of those from then on, the newest.
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
    this_ids, is_whole = _newest(members, period.this)
    before_ids, is_before_whole = _newest(members, period.before)
    if not (is_whole and is_before_whole):
        before_ids = []
    heat_ids, _ = _newest(members, heat_span)
    wanted = dict.fromkeys([*this_ids, *before_ids, *heat_ids])
    posts = read_posts(wanted, age=SET_AGES[age], metric=metric)
    this = [posts[id] for id in this_ids if id in posts]
    before = [posts[id] for id in before_ids if id in posts] if is_before_whole else None
    before = before if is_whole else None
    for_heat = [posts[id] for id in heat_ids if id in posts]
    old, old_before = period.old_enough(SET_AGES[age])
    newest_since = min((post.at for post in this), default=None) if not is_whole else None
    measured = [post for post in this if post.at in old]
    heat = heat_map(for_heat, period.zone, metric)
    return PeriodFigures(
        period=period,
        age=age,
        metric=metric,
        this=summary(this, old, metric),
        before=None if before is None else summary(before, old_before, metric),
        newest_since=newest_since,
        steps=by_step(period.steps, this, before, metric),
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
