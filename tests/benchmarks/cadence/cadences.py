"""Cadences: given a tweet's age and what the look-ups have shown, how long until the next one."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from tests.benchmarks.cadence.errors import Look
from tests.benchmarks.cadence.world import DAY, HOUR, LAST_AGE, MINUTE, Tweet
from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH, Bounds, adapted_wait
from trackers.schedule.paid_days import across_days
from trackers.tweets.pace import pace

JITTER = 0.05
YOUNGER_THAN = (18 * MINUTE, HOUR, DAY, 7 * DAY, LAST_AGE)
# The five default rows.
EVERY = (MINUTE, 5 * MINUTE, HOUR, 6 * HOUR, DAY)
# At most and at least every so often, where the rows adapt.
AT_MOST = (20, 30, MINUTE, 5 * MINUTE, 15 * MINUTE)
AT_LEAST = (5 * MINUTE, 15 * MINUTE, 3 * HOUR, DAY, 4 * DAY)
ACCURACY = 0.05


@dataclass(slots=True)
class State:
    """What a cadence may know of a tweet: its last look-up, and the pace after it."""

    last: Look | None = None
    pace: float | None = None


Cadence = Callable[[float, Look, State, float], float]


# The place of the row of this age; beyond the last one, that one's.
row: Callable[[float], int] = partial(bisect_right, YOUNGER_THAN[:-1])


def fixed(every: Sequence[float] = EVERY, longer: float = 1.0) -> Cadence:
    """Today's rows; `longer` multiplies all of them alike, as a person would by hand."""

    def wait(age: float, look: Look, state: State, stretch: float) -> float:
        return every[row(age)] * longer

    return wait


def by_age_alone(share: float) -> Cadence:
    """A share of the age, between the rows' bounds: what is due to the shape of the rows."""

    def wait(age: float, look: Look, state: State, stretch: float) -> float:
        place = row(age)
        return min(max(age * share * stretch, AT_MOST[place]), AT_LEAST[place] * min(stretch, 3))

    return wait


def adaptive(
    accuracy: float = ACCURACY,
    *,
    at_most: Sequence[float] = AT_MOST,
    at_least: Sequence[float] = AT_LEAST,
) -> Cadence:
    """The product's own rule."""
    rows = [Bounds(accuracy, *both) for both in zip(at_most, at_least, strict=True)]

    def wait(age: float, look: Look, state: State, stretch: float) -> float:
        if state.last is None:
            state.pace = pace(age, None, (0, 0, 0), look[1], None)
        else:
            last_age, before = state.last
            state.pace = pace(age, last_age, before, look[1], state.pace)
        return adapted_wait(age, state.pace, rows[row(age)], stretch)

    return wait


def lookups(
    tweet: Tweet, cadence: Cadence, chance: random.Random, *, day_stretch: float | None = None
) -> list[Look]:
    """All look-ups of one tweet, when there is room for all; with `day_stretch`, money is short."""
    collected: list[Look] = []
    state = State()
    age = tweet.found
    while age < LAST_AGE:
        look = age, tweet.at(age)
        collected.append(look)
        wait = cadence(age, look, state, 1.0)
        state.last = look
        wait *= 1 + JITTER * (2 * chance.random() - 1)
        if day_stretch is not None:
            wait = across_days(
                tweet.born + age,
                wait,
                day_stretch=day_stretch,
                longest=MAX_AT_LEAST_STRETCH * AT_LEAST[row(age)],
                chance=chance.random(),
            )
        age += wait
    return collected
