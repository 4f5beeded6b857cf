"""The figures of sets with more posts than are read at once: from their rollups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.rollups import read as rollups
from trackers.rollups.models import RollupKind
from trackers.rollups.read import Sums
from trackers.sets.figures import Step, Summary
from trackers.sets.kinds import SetKind, TweetSet
from trackers.sets.periods import Period, TimeSpan
from trackers.tweets.engagement import ACTS, MIN_VIEWS
from trackers.tweets.models import METRICS


@dataclass(frozen=True, slots=True)
class SummedPeriod:
    """Of all posts of both periods. The median is that of the metric that was asked for, to two
    digits; scores are not summed up."""

    this: Summary
    before: Summary
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class _SummedStep:
    """Of a step of a period the part whose posts have reached the age, and the rest."""

    old: Sums
    young: Sums

    @property
    def posts(self) -> int:
        return self.old.posts + self.young.posts

    def total(self, metric: str) -> int | None:
        """None: no post was measured at the age."""
        if not self.old.measured + self.young.measured:
            return None
        return int(getattr(self.old, metric) + getattr(self.young, metric))


def summed_period(
    of: TweetSet, period: Period, *, age: timedelta, metric: str
) -> SummedPeriod | None:
    """None for a saved view, which has no rollups. Three statements."""
    if of.kind == SetKind.VIEW:
        return None
    old, old_before = period.old_enough(age)
    parted = [(step, old) for step, _ in period.steps]
    parted += [(step, old_before) for _, step in period.steps]
    summed = _sums(of, parted, age)
    this, before = summed[: len(period.steps)], summed[len(period.steps) :]
    return SummedPeriod(
        this=_summary(of, this, old, age=age, metric=metric),
        before=_summary(of, before, old_before, age=age, metric=metric),
        steps=[
            Step(span, now.posts, now.total(metric), earlier, then.posts, then.total(metric))
            for (span, earlier), now, then in zip(period.steps, this, before, strict=True)
        ],
    )


def _sums(
    of: TweetSet, parted: Iterable[tuple[TimeSpan, TimeSpan]], age: timedelta
) -> list[_SummedStep]:
    """Of each step the part within the other span, and what comes after that."""
    stretches = []
    for step, old in parted:
        cut = min(max(step.since, old.until), step.until)
        stretches += [(step.since, cut), (cut, step.until)]
    sums = iter(rollups.sums(_rollup_kind(of), of.key, stretches, age))
    return [_SummedStep(old, young) for old, young in zip(sums, sums, strict=True)]


def _rollup_kind(of: TweetSet) -> RollupKind:
    return RollupKind[of.kind.name]


def _summary(
    of: TweetSet, steps: Sequence[_SummedStep], old: TimeSpan, *, age: timedelta, metric: str
) -> Summary:
    measured = sum(step.old.measured for step in steps)
    total = {name: sum(getattr(step.old, name) for step in steps) for name in METRICS}
    middle = (
        rollups.median(_rollup_kind(of), of.key, old.since, old.until, age, metric)
        if old.since < old.until
        else None
    )
    return Summary(
        posts=sum(step.posts for step in steps),
        old_enough=sum(step.old.posts for step in steps),
        measured=measured,
        total={name: count if measured else None for name, count in total.items()},
        median={name: middle if name == metric else None for name in METRICS},
        rate=sum(total[name] for name in ACTS) / total["views"]
        if total["views"] >= MIN_VIEWS
        else None,
        scored=0,
        above=None,
    )
