"""The looks at a tweet in the days ahead: the rule, walked from its next look on. Pure.

What is known of a tweet is its age, how fast it grows and when it is looked at next. Growth is its
pace times its age: the pace falls as a tweet ages, so this falls slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

from trackers.schedule.adapt import STRETCH_MOST, Bounds, adapted_wait
from trackers.schedule.intervals import Plan
from trackers.schedule.paid_days import DAY_S, across_days

# Where waits are short, several at once, over so much of the age: a walk has a few hundred steps at
# the most, even where somebody asks for a look every second.
STRIDE = 0.02
STRIDE_LEAST_S = 1.0
# Growth cools by the root of the age, counted from an hour on: between not at all, which foresees
# 7 % too many looks in the fake's world, and as the age, which foresees 3 % too few.
COOLS_FROM_S = 3600.0


class Row(NamedTuple):
    """An interval in seconds: up to an age, every so often, or by the rule."""

    below: float
    every: float
    bounds: Bounds | None


class Cell(NamedTuple):
    """So many tweets of about this age (s) and growth, looked at next `due` seconds from now.

    `payer`: the project that paid for them last. `is_paid`: X has billed them today. `is_gone`:
    X shows them no longer, so looks at them cost nothing and come at an interval of their own.
    """

    tweets: float
    age: float
    growth: float
    due: float
    payer: int | None = None
    is_paid: bool = False
    is_gone: bool = False


def rows_of(plan: Plan) -> list[Row]:
    return [
        Row(tier.younger_than.total_seconds(), tier.every.total_seconds(), tier.bounds)
        for tier in plan.tiers
    ]


def wait_at(age: float, growth: float, row: Row, stretch: float) -> float:
    if row.bounds is None:
        return row.every
    return adapted_wait(age, growth / max(age, 1.0), row.bounds, stretch)


def cooled(growth: float, age: float, later: float) -> float:
    return growth * sqrt((COOLS_FROM_S + age) / (COOLS_FROM_S + later))


def walk(
    cell: Cell,
    rows: Sequence[Row],
    ends: Sequence[float],
    *,
    stretch: float = 1.0,
    day_stretch: float = 1.0,
) -> list[float]:
    """Looks at one tweet from now to the first of `ends` (s), from there to the second, and so on.

    The ends are midnights. Past the last row's age there are no looks.
    """
    looks = [0.0] * len(ends)
    at, age, growth = cell.due, cell.age, cell.growth
    row = 0
    for place, end in enumerate(ends):
        while at < end:
            now = age + at
            while row < len(rows) and now >= rows[row].below:
                row += 1
            if row == len(rows):
                return looks
            below, _, bounds = rows[row]
            wait = wait_at(now, cooled(growth, age, now), rows[row], stretch)
            # All that fall before this; the last of them may wait beyond it.
            many = max(1, ceil((min(end, below - age) - at) / wait))
            if bounds is not None:
                many = min(many, int(STRIDE * max(now, STRIDE_LEAST_S) / wait) or 1)
            looks[place] += many
            at += (many - 1) * wait
            if bounds is not None and day_stretch > 1:
                wait = across_days(
                    DAY_S - ends[0] + at,
                    wait,
                    day_stretch=day_stretch,
                    longest=bounds.at_least * STRETCH_MOST,
                    chance=0.5,
                )
            at += wait
    return looks


def walk_gone(cell: Cell, every: float, ends: Sequence[float]) -> list[float]:
    """Looks at a tweet that X shows no longer, in case it comes back."""
    looks, at = [0.0] * len(ends), cell.due
    for place, end in enumerate(ends):
        if at < end:
            looks[place] = ceil((end - at) / every)
            at += looks[place] * every
    return looks
