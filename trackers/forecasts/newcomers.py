"""Look-ups of tweets yet to arrive, assuming as many, and of the same ages, as lately. Pure.

They will be looked at as often as today's tweets are at each age. The sum over the ages that a
newcomer passes through gives its look-ups.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trackers.forecasts.walk import Cell, IntervalRow, cooled, row_at, wait_at
from trackers.tweets.pace import strangers_pace

# Ages in seconds, to beyond a year; each is the one before times the square root of two.
AGE_STEPS = (0.0, *(2 ** (step / 2) for step in range(52)))
# An age with fewer tweets is averaged with its neighbours, since so few say little.
_MIN_TWEETS_OF_AGE = 100.0
# The look-ups are averaged over this many parts of a period.
_PARTS = 48


def age_step(age: float) -> int:
    """The index of this age in AGES."""
    return bisect_right(AGE_STEPS, age) - 1


@dataclass(frozen=True, slots=True)
class Curve:
    """Look-ups of a tweet from its creation to each of AGES."""

    lookups: Sequence[float]

    def at(self, age: float) -> float:
        place = min(age_step(max(age, 0.0)), len(AGE_STEPS) - 2)
        since, until = AGE_STEPS[place], AGE_STEPS[place + 1]
        share = min(1.0, (age - since) / (until - since))
        return self.lookups[place] + share * (self.lookups[place + 1] - self.lookups[place])

    def of_newcomer(self, age: float, passed: float) -> float:
        """Look-ups of a tweet that arrived at this age, `passed` seconds ago; the first at once."""
        # On average, half of the next wait has passed.
        return max(1.0, 0.5 + self.at(age + passed) - self.at(age))


def curve(cells: Sequence[Cell], rows: Sequence[IntervalRow], *, stretch: float) -> Curve:
    steps: list[list[Cell]] = [[] for _ in AGE_STEPS]
    for cell in cells:
        if not cell.is_gone and cell.age < AGE_STEPS[-1]:
            steps[age_step(cell.age)].append(cell)
    lookups = [0.0]
    for place, (since, until) in enumerate(pairwise(AGE_STEPS)):
        alike, total = _neighbours(steps, place), lookups[-1]
        # The row may change within a step.
        cuts = sorted({since, until, *(row.below for row in rows if since < row.below < until)})
        for begin, end in pairwise(cuts):
            age = (begin + end) / 2
            if (row := row_at(age, rows)) is not None:
                total += (end - begin) * _mean_rate(alike, age, row, stretch=stretch)
        lookups.append(total)
    return Curve(lookups)


def _neighbours(steps: Sequence[Sequence[Cell]], place: int) -> list[Cell]:
    """Tweets of that age, with those of the nearest ages until there are enough."""
    cells, many = list[Cell](), 0.0
    for away in range(len(steps)):
        for step in {place - away, place + away}:
            if 0 <= step < len(steps):
                cells += steps[step]
                many += sum(cell.tweets for cell in steps[step])
        if many >= _MIN_TWEETS_OF_AGE:
            break
    return cells


def _mean_rate(cells: Sequence[Cell], age: float, row: IntervalRow, *, stretch: float) -> float:
    """Look-ups a second of one of these tweets at this age; without any, of an unmeasured one."""
    if not cells:
        return 1 / wait_at(age, strangers_pace(age) * age, row, stretch)
    lookups = sum(
        cell.tweets / wait_at(age, cooled(cell.growth, cell.age, age), row, stretch)
        for cell in cells
    )
    return lookups / sum(cell.tweets for cell in cells)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """New tweets a second, and how many of them arrive at which age (by the step of AGES)."""

    a_second: float
    ages: Mapping[int, float]

    def lookups(self, curve: Curve, *, come_for: float, since: float, until: float) -> float:
        """Look-ups from `since` to `until` seconds from now of tweets that arrive evenly during the
        next `come_for` seconds."""
        whole = sum(self.ages.values())
        if not whole or come_for <= 0 or until <= since:
            return 0.0
        total = 0.0
        for part in range(_PARTS):
            came = come_for * (part + 0.5) / _PARTS
            for step, many in self.ages.items():
                age = AGE_STEPS[step] * 2**0.25
                done = curve.of_newcomer(age, until - came) if came < until else 0.0
                if came < since:
                    done -= curve.of_newcomer(age, since - came)
                total += many / whole * done
        return self.a_second * come_for * total / _PARTS

    def lookups_around(self, curve: Curve, at: float) -> float:
        """Look-ups a second, `at` seconds from now, of tweets that arrive from now on: what each of
        those has had by then that arrived now. Sums over all arrivals since are this integral."""
        whole = sum(self.ages.values())
        return sum(
            self.a_second * share / whole * curve.of_newcomer(AGE_STEPS[step] * 2**0.25, at)
            for step, share in self.ages.items()
        )

    def days(self, curve: Curve, *, come_for: float, since: float, until: float) -> float:
        """Tweet-days of the same tweets, for a period of up to a day: at most one for each."""
        come = self.a_second * max(0.0, come_for)
        if since <= 0:
            return come if until > 0 else 0.0
        lookups = self.lookups(curve, come_for=come_for, since=since, until=until)
        return min(come, lookups)
