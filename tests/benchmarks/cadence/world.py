"""The curves that cadences are compared on: tweets of the fake X, from birth to the 30th day.

Figures are (views, likes, retweets), whole numbers, as X would answer at that age.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trackers.fakex.world.ids import mix
from trackers.fakex.world.traits import DELETED, RETWEET, Shares, Traits, count, derive

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
BAND = bytes(sum(age >= bound for bound in BANDS[:-1]) for age in AGES)


@dataclass(frozen=True, slots=True)
class Tweet:
    """`found` is its age at the first look, `born` the second of the UTC day of its birth.

    `logs` are three curves over AGES: ln(figure + 10).
    """

    at: Callable[[float], Figures]
    found: float
    born: int
    logs: Sequence[array[float]]


def fakes_world(tweets: int, *, seed: int) -> list[Tweet]:
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
            shares=Shares(),
        )
        if not traits.flags & (DELETED | RETWEET):
            made.append(tweet(curve(traits), chance))
    return made


def curve(traits: Traits) -> Callable[[float], Figures]:
    def at(age: float) -> Figures:
        retweets, _, likes, _, _, views = count(traits, age * 1000)
        return views, likes, retweets

    return at


def tweet(at: Callable[[float], Figures], chance: random.Random) -> Tweet:
    if chance.random() < FOUND_YOUNG:
        found = chance.uniform(*YOUNG)
    else:
        found = math.exp(chance.uniform(*map(math.log, FOUND_LATE)))
    logs = [array("d") for _ in range(3)]
    for age in AGES:
        for log, figure in zip(logs, at(age), strict=True):
            log.append(math.log(figure + ADDED))
    return Tweet(at, found, chance.randrange(DAY), logs)
