"""The look-ups of a tweet in the days ahead: the rule, walked from its next look-up on. Pure.

A tweet is known by its age, its growth and the time of its next look-up. Growth is pace times age;
it falls slowly, since the pace falls as a tweet ages.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH, Bounds, adapted_wait
from trackers.schedule.intervals import Plan
from trackers.schedule.paid_days import DAY_S, across_days

# Short waits are walked several at once, over this share of the age: so a walk has a few hundred
# steps at most, even with an interval of one second.
_STRIDE = 0.02
_STRIDE_LEAST_S = 1.0
# Growth cools with the root of the age, from an hour on. In the fake's world, no cooling at all
# would foresee 7 % too many look-ups, and cooling in proportion to the age 3 % too few.
_COOLS_FROM_S = 3600.0


class IntervalRow(NamedTuple):
    """An interval in seconds: up to an age, with a fixed wait or adapting."""

    below: float
    every: float
    bounds: Bounds | None


class Cell(NamedTuple):
    """A number of tweets of about this age (s) and growth."""

    tweets: float
    age: float
    growth: float
    due: float  # seconds until they are looked up next
    payer: int | None = None  # the project that paid for them last
    is_paid: bool = False  # X has billed them today
    # X no longer shows them, so look-ups of them cost nothing and have an interval of their own.
    is_gone: bool = False


def interval_rows(plan: Plan) -> list[IntervalRow]:
    return [
        IntervalRow(tier.younger_than.total_seconds(), tier.every.total_seconds(), tier.bounds)
        for tier in plan.tiers
    ]


def row_at(age: float, rows: Sequence[IntervalRow]) -> IntervalRow | None:
    """None where tweets of this age rest."""
    return next((row for row in rows if age < row.below), None)


def wait_at(age: float, growth: float, row: IntervalRow, stretch: float) -> float:
    if row.bounds is None:
        return row.every
    return adapted_wait(age, growth / max(age, 1.0), row.bounds, stretch)


def cooled(growth: float, age: float, later: float) -> float:
    return growth * sqrt((_COOLS_FROM_S + age) / (_COOLS_FROM_S + later))


def walk(
    cell: Cell,
    rows: Sequence[IntervalRow],
    ends: Sequence[float],
    *,
    stretch: float = 1.0,
    day_stretch: float = 1.0,
    midnight: float | None = None,
) -> list[float]:
    """Look-ups of a tweet from now to the first of `ends` (s), from there to the second, and so on.

    `midnight`: when the day ends; None: at the first of `ends`. Past the last row's age there are
    no look-ups.
    """
    lookups = [0.0] * len(ends)
    midnight = ends[0] if midnight is None else midnight
    at, age, growth = cell.due, cell.age, cell.growth
    row = 0
    for place, end in enumerate(ends):
        while at < end:
            now = age + at
            while row < len(rows) and now >= rows[row].below:
                row += 1
            if row == len(rows):
                return lookups
            below, _, bounds = rows[row]
            wait = wait_at(now, cooled(growth, age, now), rows[row], stretch)
            # All look-ups that fall before this; the last one's wait may end after it.
            many = max(1, ceil((min(end, below - age) - at) / wait))
            if bounds is not None:
                many = min(many, int(_STRIDE * max(now, _STRIDE_LEAST_S) / wait) or 1)
            lookups[place] += many
            at += (many - 1) * wait
            if bounds is not None and day_stretch > 1:
                wait = across_days(
                    DAY_S - midnight + at,
                    wait,
                    day_stretch=day_stretch,
                    longest=bounds.at_least * MAX_AT_LEAST_STRETCH,
                    chance=0.5,
                )
            at += wait
    return lookups


def walk_gone(cell: Cell, every: float, ends: Sequence[float]) -> list[float]:
    """Look-ups of a tweet that X no longer shows, in case it comes back."""
    lookups, at = [0.0] * len(ends), cell.due
    for place, end in enumerate(ends):
        if at < end:
            lookups[place] = ceil((end - at) / every)
            at += lookups[place] * every
    return lookups
