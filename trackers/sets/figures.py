"""A period's figures: of the posts of a set that were posted in it, at the same age. Pure.

Younger posts are counted, and their figures wait. docs/insight.md defines each figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import pairwise

from trackers.scores.models import STANDS_OUT
from trackers.scores.rule import AS_USUAL
from trackers.sets.periods import TimeSpan, by_span
from trackers.sets.posts import Post
from trackers.tweets.engagement import ACTS, MIN_VIEWS
from trackers.tweets.growth.quantiles import quantile
from trackers.tweets.models import METRICS

# A share, or a cell of the heat map, of fewer says nothing.
MIN_POSTS = 5
_MOST_LISTED = 5
_ACT_PLACES = tuple(METRICS.index(name) for name in ACTS)


@dataclass(frozen=True, slots=True)
class Summary:
    """Of a period, or of a part of its posts."""

    posts: int  # all that were posted in it
    old_enough: int  # have reached the age
    measured: int  # of these the metric is known at the age
    total: dict[str, int | None]  # by metric; None: known of none
    median: dict[str, float | None]
    rate: float | None  # engagements ÷ views
    scored: int  # of how many a score is known
    above: float | None  # the share with at least twice what is usual


def summary(posts: Sequence[Post], old_enough: TimeSpan, metric: str) -> Summary:
    """`old_enough`: when those were posted that have reached the age."""
    old = [post for post in posts if post.at in old_enough]
    known = known_counts(old)
    scores = [post.score for post in old if post.score is not None]
    return Summary(
        posts=len(posts),
        old_enough=len(old),
        measured=len(known[metric]),
        total={name: sum(counts) if counts else None for name, counts in known.items()},
        median={name: median(counts) for name, counts in known.items()},
        rate=rate_of_all(old),
        scored=len(scores),
        above=share_above(scores),
    )


def known_counts(posts: Iterable[Post], metrics: Sequence[str] = METRICS) -> dict[str, list[int]]:
    """By metric."""
    every = [post.counts for post in posts if post.counts is not None]
    places = [(metric, METRICS.index(metric)) for metric in metrics]
    return {
        metric: [count for counts in every if (count := counts[place]) is not None]
        for metric, place in places
    }


def share_above(scores: Sequence[float]) -> float | None:
    """Of scores, those that stand out; None: too few."""
    if len(scores) < MIN_POSTS:
        return None
    return sum(score >= STANDS_OUT for score in scores) / len(scores)


def median(counts: Iterable[float]) -> float | None:
    ordered = sorted(counts)
    return quantile(ordered, 0.5) if ordered else None


def rate_of_all(posts: Iterable[Post]) -> float | None:
    """The engagement rate of those of which all is known, taken together."""
    views = engagements = 0
    for post in posts:
        counts = post.counts
        if counts is None or None in counts:
            continue
        views += counts.views or 0
        engagements += sum(counts[place] for place in _ACT_PLACES)  # type: ignore[misc]
    return engagements / views if views >= MIN_VIEWS else None


def _count_of(post: Post, metric: str) -> int | None:
    """At the age; None: not known."""
    if post.counts is None:
        return None
    count: int | None = getattr(post.counts, metric)
    return count


def _counts(posts: Iterable[Post], metric: str) -> list[int]:
    counts = (_count_of(post, metric) for post in posts)
    return [count for count in counts if count is not None]


@dataclass(frozen=True, slots=True)
class Step:
    """A day of the period, or an hour, beside the one that it is compared with; None where it was
    not read."""

    span: TimeSpan
    posts: int | None
    total: int | None  # None too: known of none
    before: TimeSpan
    posts_before: int | None
    total_before: int | None


def by_step(
    steps: Sequence[tuple[TimeSpan, TimeSpan]],
    this: Sequence[Post],
    before: Sequence[Post] | None,
    metric: str,
) -> list[Step]:
    """`before`: None where they are not all known."""
    now, earlier = zip(*steps, strict=True)
    counted = [_count_and_total(posts, metric) for posts in by_span(this, now)]
    counted_before: list[tuple[int | None, int | None]] = [(None, None)] * len(steps)
    if before is not None:
        counted_before = [_count_and_total(posts, metric) for posts in by_span(before, earlier)]
    return [
        Step(span, *counts, span_before, *counts_before)
        for (span, span_before), counts, counts_before in zip(
            steps, counted, counted_before, strict=True
        )
    ]


def _count_and_total(posts: Sequence[Post], metric: str) -> tuple[int | None, int | None]:
    counts = _counts(posts, metric)
    return len(posts), sum(counts) if counts else None


def best(posts: Iterable[Post], metric: str) -> list[Post]:
    """Those of the highest scores above usual; where none has a score, of the highest counts."""
    shown = [post for post in posts if _count_of(post, metric) is not None]
    scored = [post for post in shown if post.score is not None]
    if not scored:
        return sorted(shown, key=lambda post: -(_count_of(post, metric) or 0))[:_MOST_LISTED]
    above = [post for post in scored if (post.score or 0) >= AS_USUAL[1]]
    return sorted(above, key=lambda post: -(post.score or 0))[:_MOST_LISTED]


def worst(posts: Iterable[Post]) -> list[Post]:
    """Those farthest below what is usual."""
    shown = [post for post in posts if post.score is not None]
    below = [post for post in shown if (post.score or 0) <= AS_USUAL[0]]
    return sorted(below, key=lambda post: post.score or 0)[:_MOST_LISTED]


@dataclass(frozen=True, slots=True)
class Class:
    """Of the distribution: posts with `low` up to before `high`."""

    low: int
    high: int
    posts: int


def distribution(posts: Iterable[Post], metric: str) -> list[Class]:
    """From the class of the lowest count to that of the highest, empty ones in between included."""
    counts = _counts(posts, metric)
    if not counts:
        return []
    # 10, 30, 100, 300 …: two classes to a power of ten.
    ends = [0, 10]
    while ends[-1] <= max(counts):
        ends.append(ends[-1] * 3 if str(ends[-1])[0] == "1" else ends[-1] // 3 * 10)
    classes = [
        Class(low, high, sum(low <= count < high for count in counts))
        for low, high in pairwise(ends)
    ]
    first = next(place for place, one in enumerate(classes) if one.posts)
    return classes[first:]


@dataclass(frozen=True, slots=True)
class Part:
    """The posts of a period that have something in common."""

    key: Hashable
    posts: int
    measured: int
    median: float | None
    rate: float | None


def parts(
    posts: Iterable[Post],
    old_enough: TimeSpan,
    metric: str,
    key: Callable[[Post], Hashable],
    *,
    most: int,
) -> list[Part]:
    """By what `key` says, which is None or empty for those left out; with the most posts first."""
    by_key: dict[Hashable, list[Post]] = defaultdict(list)
    for post in posts:
        if name := key(post):
            by_key[name].append(post)
    made = []
    for name, some in by_key.items():
        old = [post for post in some if post.at in old_enough]
        counts = _counts(old, metric)
        made.append(Part(name, len(some), len(counts), median(counts), rate_of_all(old)))
    return sorted(made, key=lambda part: (-part.posts, str(part.key)))[:most]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """By weekday, from Monday, and hour of posting: how many, and their median if it says
    something."""

    posts: tuple[tuple[int, ...], ...]
    medians: tuple[tuple[float | None, ...], ...]
    median: float | None  # of all
    measured: int


@dataclass(frozen=True, slots=True)
class BestTime:
    weekday: int | None  # None: any day
    hour: int
    posts: int
    median: float
    factor: float | None  # how many times the median of all hours


def heat_map(posts: Iterable[Post], zone: tzinfo, metric: str) -> HeatMap:
    """By the zone's clock as it was at each posting."""
    cells: list[list[list[int]]] = [[[] for _ in range(24)] for _ in range(7)]
    for post in posts:
        count = _count_of(post, metric)
        if count is not None:
            local = post.at.astimezone(zone)
            cells[local.weekday()][local.hour].append(count)
    every = [count for row in cells for cell in row for count in cell]
    return HeatMap(
        posts=tuple(tuple(len(cell) for cell in row) for row in cells),
        medians=tuple(
            tuple(median(cell) if len(cell) >= MIN_POSTS else None for cell in row) for row in cells
        ),
        median=median(every),
        measured=len(every),
    )


def best_times(heat: HeatMap, posts: Iterable[Post], zone: tzinfo, metric: str) -> list[BestTime]:
    """The best hour of any day, then the best three of weekdays; none of fewer than MIN_POSTS."""
    by_hour: dict[int, list[int]] = defaultdict(list)
    for post in posts:
        count = _count_of(post, metric)
        if count is not None:
            by_hour[post.at.astimezone(zone).hour].append(count)
    any_day = [
        BestTime(None, hour, len(counts), middle, _factor(middle, heat.median))
        for hour, counts in by_hour.items()
        if len(counts) >= MIN_POSTS and (middle := median(counts))
    ]
    of_weekdays = [
        BestTime(weekday, hour, heat.posts[weekday][hour], middle, _factor(middle, heat.median))
        for weekday, row in enumerate(heat.medians)
        for hour, middle in enumerate(row)
        if middle
    ]
    return [*_highest(any_day)[:1], *_highest(of_weekdays)[:3]]


def _highest(times: Iterable[BestTime]) -> list[BestTime]:
    return sorted(times, key=lambda one: (-one.median, one.weekday or 0, one.hour))


def _factor(middle: float, of_all: float | None) -> float | None:
    return middle / of_all if of_all else None


def share_of(now: float | None, before: float | None) -> float | None:
    """By how much it changed, as a share of what it was: 0.38 for 38 % more."""
    return None if now is None or not before else now / before - 1
