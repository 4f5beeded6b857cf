"""The figures of sets with more posts than are read at once: from their rollups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.rollups import read as rollups
from trackers.rollups.models import QUARTER_MS, RollupKind
from trackers.rollups.read import QuarterSums
from trackers.sets.figures import Step, Summary
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.periods import Period, TimeSpan, by_span
from trackers.tweets.engagement import ACTS, MIN_VIEWS
from trackers.tweets.models import METRICS

_QUARTER = timedelta(milliseconds=QUARTER_MS)


@dataclass(frozen=True, slots=True)
class SummedPeriod:
    """Of all posts of both periods. The median is that of the metric that was asked for, to two
    digits; scores are not summed up."""

    this: Summary
    before: Summary
    steps: list[Step]


def summed_period(
    of: TweetSet, period: Period, *, age: timedelta, metric: str
) -> SummedPeriod | None:
    """None for a saved view, which has no rollups. Four statements."""
    if of.kind == SetKind.VIEW:
        return None
    this = _sums(of, period.this, age)
    before = _sums(of, period.before, age)
    old, old_before = period.old_enough(age)
    return SummedPeriod(
        this=_summary(of, this, old, age=age, metric=metric),
        before=_summary(of, before, old_before, age=age, metric=metric),
        steps=_steps(period, this, before, metric),
    )


def _steps(
    period: Period, this: Iterable[QuarterSums], before: Iterable[QuarterSums], metric: str
) -> list[Step]:
    spans, earlier = zip(*period.steps, strict=True)
    pairs = zip(by_span(this, spans), by_span(before, earlier), strict=True)
    return [
        Step(span, *_posts_and_total(rows, metric), span_before, *_posts_and_total(past, metric))
        for (span, span_before), (rows, past) in zip(period.steps, pairs, strict=True)
    ]


def _sums(of: TweetSet, span: TimeSpan, age: timedelta) -> list[QuarterSums]:
    """With the quarter of an hour in which it ends."""
    until = span.until + _QUARTER - timedelta(microseconds=1)
    return rollups.sums(_rollup_kind(of), of.key, span.since, until, age)


def _rollup_kind(of: TweetSet) -> RollupKind:
    return RollupKind[of.kind.name]


def _summary(
    of: TweetSet, rows: Sequence[QuarterSums], old: TimeSpan, *, age: timedelta, metric: str
) -> Summary:
    aged = [row for row in rows if row.at in old]
    measured = sum(row.measured for row in aged)
    total = {name: sum(getattr(row, name) for row in aged) for name in METRICS}
    middle = (
        rollups.median(_rollup_kind(of), of.key, old.since, old.until, age, metric)
        if old.since < old.until
        else None
    )
    return Summary(
        posts=sum(row.posts for row in rows),
        old_enough=sum(row.posts for row in aged),
        measured=measured,
        total={name: count if measured else None for name, count in total.items()},
        median={name: middle if name == metric else None for name in METRICS},
        rate=sum(total[name] for name in ACTS) / total["views"]
        if total["views"] >= MIN_VIEWS
        else None,
        scored=0,
        above=None,
    )


def _posts_and_total(rows: Sequence[QuarterSums], metric: str) -> tuple[int, int | None]:
    measured = sum(row.measured for row in rows)
    total = sum(getattr(row, metric) for row in rows)
    return sum(row.posts for row in rows), total if measured else None
