"""A tweet whose figures are known at every age, from birth to the 30th day; those of the fake X.

Figures are (views, likes, retweets), whole numbers, as X would answer at that age.
"""

from __future__ import annotations

import math
import random
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import le, mul

from fakex.world.ids import mix
from fakex.world.traits import DELETED, RETWEET, Shares, Traits, count, derive

MINUTE, HOUR, DAY = 60, 3600, 86400
LAST_AGE = 30 * DAY
BANDS = (18 * MINUTE, HOUR, DAY, 7 * DAY, LAST_AGE)
# Ten more or less never matter: 0 to 1 like is no news.
ADDED = 10
# Most tweets are found young, by a stream or a poll; the others when somebody imports them.
FOUND_YOUNG, YOUNG = 0.85, (2, 60)
FOUND_LATE = (10 * MINUTE, 15 * DAY)
# A tweet of 2026, when X tells views.
BORN_MS = 1_780_000_000_000

Figures = tuple[int, int, int]


def ages() -> array[float]:
    """Where truth and knowledge are compared: every 10 s, every minute, every ten minutes."""
    return array(
        "d",
        [
            *range(10, 30 * MINUTE, 10),
            *range(30 * MINUTE, DAY, MINUTE),
            *range(DAY, LAST_AGE + 1, 10 * MINUTE),
        ],
    )


AGES = ages()
# Each age stands for half of the steps to its neighbours.
LENGTHS = array(
    "d",
    [
        (AGES[min(place + 1, len(AGES) - 1)] - AGES[max(place - 1, 0)]) / 2
        for place in range(len(AGES))
    ],
)
# How much time has passed before each age, and the place of the first age of each band.
PASSED = array("d", accumulate(LENGTHS, initial=0.0))
BAND_STARTS = [0, *(bisect_left(AGES, bound) for bound in BANDS[:-1]), len(AGES)]
# As the fake X has them, and where every tweet has a late second wave.
USUAL = Shares()
SECOND_WAVES = Shares(deleted=0.0, falling=0.0, reviving=1.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """One figure over AGES, as ln(figure + 10). `sums`: these times their lengths, added up."""

    logs: array[float]
    sums: array[float]
    rises: bool

    def over(self, begin: int, end: int) -> float:
        return self.sums[end] - self.sums[begin]


@dataclass(frozen=True, slots=True)
class Tweet:
    """`found` is its age at the first look-up, `born` the second of the UTC day of its birth."""

    at: Callable[[float], Figures]
    found: float
    born: int
    curves: Sequence[Curve]


def fakes_world(tweets: int, *, seed: int, shares: Shares = USUAL) -> list[Tweet]:
    """Tweets of the fake X, as it draws them from their ids; none that are deleted."""
    made: list[Tweet] = []
    chance = random.Random(seed)
    number = 0
    while len(made) < tweets:
        number += 1
        traits = derive(
            mix(seed << 32 | number),
            born_ms=BORN_MS,
            start_ms=BORN_MS,
            seed=seed,
            authors=1000,
            shares=shares,
        )
        if not traits.flags & (DELETED | RETWEET):
            at = figures_of(traits)
            made.append(
                Tweet(at, found(chance), chance.randrange(DAY), curves([at(age) for age in AGES]))
            )
    return made


def figures_of(traits: Traits) -> Callable[[float], Figures]:
    def at(age: float) -> Figures:
        retweets, _, likes, _, _, views = count(traits, age * 1000)
        return views, likes, retweets

    return at


def found(chance: random.Random) -> float:
    """The age at the first look-up."""
    if chance.random() < FOUND_YOUNG:
        return chance.uniform(*YOUNG)
    return math.exp(chance.uniform(*map(math.log, FOUND_LATE)))


def curves(figures: Iterable[Figures]) -> list[Curve]:
    """From the figures at each of AGES."""
    made = []
    for one in zip(*figures, strict=True):
        logs = array("d", [math.log(figure + ADDED) for figure in one])
        sums = array("d", accumulate(map(mul, logs, LENGTHS), initial=0.0))
        made.append(Curve(logs, sums, all(le(*both) for both in pairwise(one))))
    return made
