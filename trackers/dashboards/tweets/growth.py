"""The growth of one tweet by time instead of its totals: per hour, and per day. Pure, but for the
reader's zone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from trackers.tweets.history import Run
from trackers.tweets.models import METRICS
from tweetwatch.notation import day_of

DAY_LENGTH, _HOUR_LENGTH = timedelta(days=1), timedelta(hours=1)
# The least time that a rate covers, and the most rates that are shown.
_SHORTEST_STEP, _MAX_STEPS = timedelta(minutes=2), 240

Counts = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What changed from one measurement to another, by metric; None where it is unknown."""

    since: datetime
    until: datetime
    gained: dict[str, int | None]
    gap: bool = False  # for a part of that time nobody looked

    def per_hour(self, metric: str) -> float | None:
        gained = self.gained[metric]
        return None if gained is None else gained / ((self.until - self.since) / _HOUR_LENGTH)


def hourly_steps(runs: Sequence[Run], holes: frozenset[int]) -> list[Step]:
    """Steps between measurements, short ones joined; a hole is not a step."""
    if not runs:
        return []
    shortest = max(_SHORTEST_STEP, (runs[-1].measured_until - runs[0].taken_at) / _MAX_STEPS)
    steps: list[Step] = []
    for stretch in _stretches(runs, holes):
        (since, before), *rest = stretch
        for place, (until, counts) in enumerate(rest, 1):
            is_last = place == len(rest)
            if until - since >= shortest or (is_last and until > since):
                steps.append(Step(since, until, _gains(before, counts)))
                since, before = until, counts
    return steps


def daily_steps(runs: Sequence[Run], holes: frozenset[int], *, born: datetime | None) -> list[Step]:
    """By day of the reader: what the tweet had at its end beyond what it had at its beginning.

    A tweet begins with nothing on the day of its posting, and otherwise with its first measurement.
    What changed in a hole across midnight is counted on the day on which that was measured.
    """
    points = list(_points_of(runs))
    if not points:
        return []
    in_gaps = {
        day_of(at)
        for place in holes
        for at in (runs[place - 1].measured_until, runs[place].taken_at)
    }
    on = [day_of(at) for at, _ in points]
    since, before = points[0]
    if born and born <= since and day_of(born) == day_of(since):
        since, before = born, (0,) * len(METRICS)
    steps = []
    for place, (until, counts) in enumerate(points):
        is_last = place + 1 == len(points)
        if is_last or on[place + 1] != on[place]:
            steps.append(Step(since, until, _gains(before, counts), gap=on[place] in in_gaps))
            since, before = until, counts
    return steps


def _stretches(
    runs: Sequence[Run], holes: frozenset[int]
) -> Iterator[list[tuple[datetime, Counts]]]:
    """The measurements between two holes."""
    edges = [0, *sorted(holes), len(runs)]
    for start, end in pairwise(edges):
        if points := list(_points_of(runs[start:end])):
            yield points


def _points_of(runs: Sequence[Run]) -> Iterator[tuple[datetime, Counts]]:
    """The first and the last measurement of each run."""
    for run in runs:
        counts = run.counts
        yield run.taken_at, counts
        if run.measured_until > run.taken_at:
            yield run.measured_until, counts


def _gains(before: Counts, after: Counts) -> dict[str, int | None]:
    return {
        metric: None if old is None or new is None else new - old
        for metric, old, new in zip(METRICS, before, after, strict=True)
    }
