"""Forecasts made at midnight against the days that came: the product's own, in the fake's world.

Tweets are born all the time, and found at every age. There is room and money for all look-ups. The
first days only teach the correction.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.benchmarks.cadence.cadences import (
    ACCURACY,
    AT_LEAST,
    AT_MOST,
    JITTER,
    YOUNGER_THAN,
    Cadence,
    State,
    adaptive,
)
from tests.benchmarks.cadence.world import DAY, LAST_AGE, Tweet
from tests.benchmarks.results import Bar, Value
from trackers.forecasts.day import Day, Known, foresee
from trackers.forecasts.newcomers import Arrivals, age_step
from trackers.forecasts.update import DAYS as TAUGHT_DAYS
from trackers.forecasts.update import correction
from trackers.forecasts.walk import Cell, IntervalRow
from trackers.schedule.adapt import Bounds

# Each tweet of the world lives several lives, each with other chances; and is born again and again.
LIVES = 4
MEASURED_DAYS = 4
FIRST_DAY = LAST_AGE // DAY
DAYS = FIRST_DAY + TAUGHT_DAYS + MEASURED_DAYS
SEED = 5
BOUNDS = [Bounds(ACCURACY, *both) for both in zip(AT_MOST, AT_LEAST, strict=True)]
ADAPTING = [IntervalRow(age, 0.0, bounds) for age, bounds in zip(YOUNGER_THAN, BOUNDS, strict=True)]


@dataclass(slots=True)
class Life:
    """The ages at which a tweet is looked at, and its growth by then."""

    ages: list[float]
    growths: list[float]


@dataclass(frozen=True, slots=True)
class Came:
    known_lookups: int
    new_lookups: int
    tweet_days: int
    newcomers: int

    @property
    def lookups(self) -> int:
        return self.known_lookups + self.new_lookups


@dataclass(frozen=True, slots=True)
class Error:
    """The shares by which a forecast was off; given how many new tweets came."""

    day: str
    known_lookups: float
    lookups: float
    tweet_days: float


def life(tweet: Tweet, cadence: Cadence, chance: random.Random) -> Life:
    collected, state, age = Life([], []), State(), tweet.found
    while age < LAST_AGE:
        look = age, tweet.at(age)
        wait = cadence(age, look, state, 1.0) * (1 + JITTER * (2 * chance.random() - 1))
        state.last = look
        collected.ages.append(age)
        collected.growths.append((state.pace or 0.0) * max(age, 1.0))
        age += wait
    return collected


def fleet(
    world: Sequence[Tweet], cadence: Cadence, *, births_a_day: int
) -> list[tuple[float, Life]]:
    """When each was born, and its life."""
    chance = random.Random(SEED)
    lives = [life(tweet, cadence, chance) for tweet in world for _ in range(LIVES)]
    return [
        (chance.uniform(0, DAYS * DAY), chance.choice(lives)) for _ in range(births_a_day * DAYS)
    ]


def known_at(
    fleet: Sequence[tuple[float, Life]], rows: Sequence[IntervalRow], midnight: float
) -> tuple[Known, Came]:
    """What the product knows at this midnight, with how many new ones come; and what comes."""
    cells = []
    ages = Counter[int]()
    newcomers = known_lookups = new_lookups = days = 0
    for born, life in fleet:
        age = midnight - born
        # Look-ups before midnight, and before the next.
        before = bisect_left(life.ages, age)
        until = bisect_left(life.ages, age + DAY)
        days += until > before
        if before == 0:
            newcomers += until > 0
            new_lookups += until
            continue
        known_lookups += until - before
        ages[age_step(life.ages[0])] += life.ages[0] >= age - DAY
        if before < len(life.ages):
            cells.append(Cell(1, age, life.growths[before - 1], life.ages[before] - age))
    known = Known(cells, rows, Arrivals(newcomers / DAY, ages))
    return known, Came(known_lookups, new_lookups, days, newcomers)


def measured(
    world: Sequence[Tweet], cadence: Cadence, rows: Sequence[IntervalRow], *, births_a_day: int
) -> Iterator[Error]:
    """Of the days after those that taught the correction."""
    tweets = fleet(world, cadence, births_a_day=births_a_day)
    past: list[tuple[Day, Came]] = []
    for number in range(FIRST_DAY, DAYS):
        known, came = known_at(tweets, rows, number * DAY)
        day, _ = foresee(known, to_midnight=DAY)
        lately = past[-TAUGHT_DAYS:]
        of_lookups = correction([(one.lookups, float(fact.lookups)) for one, fact in lately])
        of_days = correction(
            [(one.known_days, float(fact.tweet_days - fact.newcomers)) for one, fact in lately]
        )
        past.append((day, came))
        if len(lately) == TAUGHT_DAYS:
            yield Error(
                f"day {number - FIRST_DAY}",
                day.known_lookups * of_lookups / came.known_lookups - 1,
                day.lookups * of_lookups / came.lookups - 1,
                (day.known_days * of_days + day.new_days) / came.tweet_days - 1,
            )


def forecasts(
    world: Sequence[Tweet], *, births_a_day: int
) -> tuple[list[dict[str, Value]], list[Bar]]:
    """The errors of each day, in percent, and the worst of them against the bars."""
    results = list(measured(world, adaptive(), ADAPTING, births_a_day=births_a_day))
    rows: list[dict[str, Value]] = [
        {
            "world": "the fake's",
            "cadence": f"forecast at midnight, adapting rows: {result.day}",
            "known look-ups off %": 100 * result.known_lookups,
            "all look-ups off %": 100 * result.lookups,
            "tweet-days off %": 100 * result.tweet_days,
        }
        for result in results
    ]

    def worst(errors: Iterable[float]) -> float:
        return max(map(abs, errors))

    bars = [
        Bar("forecast: tweet-days", worst(one.tweet_days for one in results), 0.03, "at most"),
        Bar(
            "forecast: known look-ups", worst(one.known_lookups for one in results), 0.04, "at most"
        ),
        Bar("forecast: all look-ups", worst(one.lookups for one in results), 0.05, "at most"),
    ]
    return rows, bars
