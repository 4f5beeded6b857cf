"""How far what is known of a tweet is from the truth, over its first thirty days."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter, mul, sub

from tests.benchmarks.cadence.world import (
    ADDED,
    AGES,
    BAND_STARTS,
    BANDS,
    DAY,
    LENGTHS,
    PASSED,
    Curve,
    Figures,
    Tweet,
)

# A figure that is this far off is wrong: by more than ten percent.
FAR = 0.1

Look = tuple[float, Figures]
UNKNOWN: Look = (0.0, (0, 0, 0))


@dataclass(slots=True)
class Errors:
    """Sums over time; each of the five bands of age counts alike, whatever its length.

    `now`: of the newest look-up; `curve`: of the straight line between look-ups; `off`: the time in
    which some figure of the newest look-up is off by more than a tenth.
    """

    now: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))
    curve: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))
    off: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))
    time: list[float] = field(default_factory=lambda: [0.0] * len(BANDS))

    def add(
        self, tweet: Tweet, lookups: Sequence[Look], *, since: float = 0.0, until: float = math.inf
    ) -> None:
        """Compare a tweet's look-ups, by age, with its truth, from the first look-up on.

        With `since` from that age, even when it had no look-up by then: what is not known is 0.
        """
        first = bisect_left(AGES, since or lookups[0][0])
        last = bisect_right(AGES, until)
        # What is known at first, and the look-ups after it.
        known = bisect_right(lookups, AGES[first], key=itemgetter(0)) if first < last else 0
        newest = [lookups[known - 1] if known else UNKNOWN, *lookups[known:]]
        # The places of AGES from which each of them is the newest.
        places = [0, *(bisect_left(AGES, age) for age, _ in lookups[known:]), len(AGES)]
        for number, (begin, end) in enumerate(pairwise(places)):
            begin, end = max(begin, first), min(end, last)
            if begin >= end:
                continue
            # Until the first look-up there is no line either.
            has_next = newest[number] is not UNKNOWN and number + 1 < len(newest)
            following = newest[number + 1] if has_next else None
            for band, left, right in by_band(begin, end):
                self.add_piece(tweet, band, left, right, newest[number], following)

    def add_piece(
        self, tweet: Tweet, band: int, begin: int, end: int, newest: Look, following: Look | None
    ) -> None:
        """From one place of AGES to another, in one band, between two look-ups."""
        lengths = LENGTHS[begin:end]
        far_from = end
        unsteady: list[Sequence[float]] = []
        for figure, curve in enumerate(tweet.curves):
            known = newest[1][figure]
            steady = math.log(known + ADDED)
            if curve.rises:
                total = curve.over(begin, end) - steady * (PASSED[end] - PASSED[begin])
                far_from = min(far_from, bisect_right(curve.logs, steady + FAR, begin, end))
            else:
                apart = [abs(true - steady) for true in curve.logs[begin:end]]
                total = sum(map(mul, apart, lengths))
                unsteady.append(apart)
            self.now[band] += total / 3
            if following is not None and following[1][figure] != known:
                total = beside_line(curve, begin, end, (newest[0], known), following, figure)
            self.curve[band] += total / 3
        self.time[band] += PASSED[end] - PASSED[begin]
        self.off[band] += PASSED[end] - PASSED[far_from]
        for place in range(far_from - begin) if unsteady else ():
            if any(apart[place] > FAR for apart in unsteady):
                self.off[band] += lengths[place]

    def means(self) -> tuple[float, float, float]:
        """The mean errors of the curve and of now, and the share of time that is off."""
        return (
            mean(part / time for part, time in zip(self.curve, self.time, strict=True) if time),
            mean(part / time for part, time in zip(self.now, self.time, strict=True) if time),
            mean(part / time for part, time in zip(self.off, self.time, strict=True) if time),
        )


def by_band(begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    for band, (left, right) in enumerate(pairwise(BAND_STARTS)):
        if left < end and begin < right:
            yield band, max(left, begin), min(right, end)


def beside_line(
    curve: Curve, begin: int, end: int, newest: tuple[float, int], following: Look, figure: int
) -> float:
    """The error of a straight line between two look-ups, times its length."""
    taken, known = newest
    gap = (following[0] - taken) or 1.0
    slope = (following[1][figure] - known) / gap
    start = known + ADDED - slope * taken
    line = map(math.log, [start + slope * age for age in AGES[begin:end]])
    return sum(map(mul, map(abs, map(sub, curve.logs[begin:end], line)), LENGTHS[begin:end]))


def mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def days(tweet: Tweet, lookups: Iterable[Look]) -> int:
    """UTC days with a look-up: what X bills."""
    return len({int((tweet.born + age) // DAY) for age, _ in lookups})
