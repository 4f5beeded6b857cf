"""Forecasts of a first day against what came: the product's own, in the fake's world.

A source is added, its first poll brings the posts of the day before, and from then on posts come by
chance; people import old ones. Nothing was learned before. Each hour the day is forecast.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.benchmarks.cadence.cadences import EVERY, YOUNGER_THAN, Cadence, adaptive, fixed
from tests.benchmarks.cadence.forecast import ADAPTING, LIVES, Life, life
from tests.benchmarks.cadence.world import DAY, FOUND_LATE, HOUR, Tweet
from tests.benchmarks.results import Bar, Value
from trackers.forecasts.day import Known, foresee
from trackers.forecasts.newcomers import Arrivals, age_step
from trackers.forecasts.walk import Cell, IntervalRow

FIRST_DAYS = 10
SEED = 11
HOURS = (1, 2, 3, 4, 6, 8, 12, 16, 20)
# What the first poll finds is of these ages, and of so many tweets each.
BACKFILLED = range(HOUR // 4, DAY, HOUR // 2)
LIVES_AN_AGE = 12
FIXED = [IntervalRow(age, every, None) for age, every in zip(YOUNGER_THAN, EVERY, strict=True)]
WITHIN = 0.30


@dataclass(frozen=True, slots=True)
class Lives:
    """Of tweets that are found as they come, and of those of the day before, by half-hours."""

    found: Sequence[Life]
    backfilled: Sequence[Sequence[Life]]


def lives(world: Sequence[Tweet], cadence: Cadence) -> Lives:
    chance = random.Random(SEED)
    return Lives(
        [life(tweet, cadence, chance) for tweet in world for _ in range(LIVES)],
        [
            [
                life(replace(chance.choice(world), found=age), cadence, chance)
                for _ in range(LIVES_AN_AGE)
            ]
            for age in BACKFILLED
        ],
    )


def fleet(lives: Lives, *, births_a_day: int, seed: int) -> Iterator[tuple[float, Life]]:
    """What is known or comes on the first day: when each was born, and its life. The day begins at
    0."""
    chance = random.Random(seed)
    days = FOUND_LATE[1] // DAY + 1
    for _ in range(births_a_day * days):
        born, lived = chance.uniform(DAY - days * DAY, DAY), chance.choice(lives.found)
        if 0 <= born + lived.ages[0] < DAY:
            yield born, lived
        elif -DAY < born < 0:
            alike = lives.backfilled[int(-born // BACKFILLED.step)]
            lived = chance.choice(alike)
            yield -lived.ages[0], lived


def known_at(
    fleet: Iterable[tuple[float, Life]], rows: Sequence[IntervalRow], at: float
) -> tuple[Known, int, int]:
    """What the product knows after so many seconds; the look-ups until then, and of the day."""
    cells, ages = [], Counter[int]()
    came = so_far = whole = 0
    for born, lived in fleet:
        before, all_day = bisect_left(lived.ages, at - born), bisect_left(lived.ages, DAY - born)
        so_far += before
        whole += all_day
        if before == 0:
            continue
        if born > 0:
            came += 1
            ages[age_step(lived.ages[0])] += 1
        if before < len(lived.ages):
            age = at - born
            cells.append(Cell(1, age, lived.growths[before - 1], lived.ages[before] - age))
    return Known(cells, rows, Arrivals(came / at, ages)), so_far, whole


def errors(
    lives: Lives, rows: Sequence[IntervalRow], *, births_a_day: int
) -> Iterator[tuple[int, float]]:
    """The hour, and the share by which the day's forecast was off then."""
    for number in range(FIRST_DAYS):
        tweets = [*fleet(lives, births_a_day=births_a_day, seed=SEED + number)]
        for hour in HOURS:
            known, so_far, whole = known_at(tweets, rows, hour * HOUR)
            rest, _ = foresee(known, to_midnight=DAY - hour * HOUR)
            yield hour, (so_far + rest.lookups) / whole - 1


def first_days(
    world: Sequence[Tweet], *, births_a_day: int
) -> tuple[list[dict[str, Value]], list[Bar]]:
    rows: list[dict[str, Value]] = []
    bars = []
    for name, cadence, intervals in (
        ("fixed", fixed(), FIXED),
        ("adapting", adaptive(), ADAPTING),
    ):
        results = [*errors(lives(world, cadence), intervals, births_a_day=births_a_day)]
        for hour in HOURS:
            off = [error for at, error in results if at == hour]
            rows.append(
                {
                    "world": "the fake's",
                    "cadence": f"forecast of {FIRST_DAYS} first days after {hour} h, {name} rows",
                    "least off %": 100 * min(off),
                    "most off %": 100 * max(off),
                }
            )
        worst = max(abs(error) for _, error in results)
        bars.append(Bar(f"first day: look-ups, {name} rows", worst, WITHIN, "at most"))
    return rows, bars
