"""Worlds that the rule was not made in: other families of curves than the fake X has, and chance.

Each world draws, for a tweet, the views to be expected in each step of AGES. What comes is drawn
from these, and likes and retweets from the views that come; so no curve is smooth.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from tests.benchmarks.cadence.world import (
    AGES,
    DAY,
    HOUR,
    LAST_AGE,
    MINUTE,
    Figures,
    Tweet,
    curves,
    found,
)

STEPS = [after - before for before, after in pairwise((0.0, *AGES))]
# Views expected in each step of AGES of a tweet born at this second of the day.
World = Callable[[random.Random, int], Iterable[float]]
# A mean from which on chance has the shape of a bell.
MANY = 50.0


def decays(chance: random.Random, born: int) -> Iterable[float]:
    """Power laws, from ones that end within hours to ones that hardly end."""
    power = chance.uniform(0.4, 1.8)
    scale = 10 * MINUTE * math.exp(chance.gauss(0, 1))
    return gains(size(chance), lambda age: 1 - (1 + age / scale) ** -power)


def by_day_and_night(chance: random.Random, born: int) -> Iterator[float]:
    """Decays that follow the day of those who read: almost nothing comes at night."""
    power, scale = chance.uniform(0.6, 1.3), HOUR * math.exp(chance.gauss(0, 0.7))
    noon = chance.uniform(15, 21) * HOUR
    steady = gains(size(chance), lambda age: 1 - (1 + age / scale) ** -power)
    for age, gain in zip(AGES, steady, strict=True):
        yield gain * (1 + 0.9 * math.cos(math.tau * (born + age - noon) / DAY))


def slow_burners(chance: random.Random, born: int) -> Iterable[float]:
    """A third of the tweets of the first world are found late; see `all_slow`."""
    return (all_slow if chance.random() < 1 / 3 else decays)(chance, born)


def all_slow(chance: random.Random, born: int) -> Iterable[float]:
    """The most views come after hours or days, or just as many every day."""
    if chance.random() < 0.3:
        return gains(size(chance), lambda age: age / LAST_AGE)
    peak = log_uniform(chance, 6 * HOUR, 6 * DAY)
    return gains(size(chance), lambda age: 1 - (1 + age / peak) * math.exp(-age / peak))


def jumps(chance: random.Random, born: int) -> Iterable[float]:
    """A third of the tweets of the first world jump; see `all_jump`."""
    return (all_jump if chance.random() < 1 / 3 else decays)(chance, born)


def all_jump(chance: random.Random, born: int) -> Iterable[float]:
    """A quick decay, and then again and again somebody large who shows the tweet to many."""
    large = size(chance)
    found_in = 20 * MINUTE * math.exp(chance.gauss(0, 1))
    expected = gains(large, lambda age: 1 - (1 + age / found_in) ** -1.2)
    for _ in range(1 + drawn(chance, 2.0)):
        expected = add_jump(chance, expected, large * math.exp(chance.gauss(-0.5, 1)))
    return expected


def add_jump(chance: random.Random, expected: list[float], views: float) -> list[float]:
    at = log_uniform(chance, 20 * MINUTE, 25 * DAY)
    lasts = log_uniform(chance, 3 * MINUTE, 30 * MINUTE)
    before = 0.0
    for place in range(bisect_left(AGES, at), bisect_right(AGES, at + 12 * lasts)):
        share = 1 - math.exp(-(AGES[place] - at) / lasts)
        expected[place] += views * (share - before)
        before = share
    return expected


# How fast an audience sees what was shared with it, and the shares of those who are so fast.
FADES_IN = (5 * MINUTE, 2 * HOUR, DAY)
SO_FAST = (0.5, 0.3, 0.2)
VIEWS_OF_AN_AUDIENCE = 40.0
# A Pareto law of this power has so large a mean; one share reaches no more than this.
REACH, MEAN_REACH, MOST_REACH = 1.5, 3.0, 300.0
FADED = {step: [1 - math.exp(-step / lasts) for lasts in FADES_IN] for step in sorted(set(STEPS))}


def bursts(chance: random.Random, born: int) -> Iterator[float]:
    """Cascades: who sees a tweet may share it, with few or with very many, who may do the same."""
    fertile = chance.uniform(0.4, 0.95)
    audience = [20 * math.exp(chance.gauss(0, 1.2)) * share for share in SO_FAST]
    for step in STEPS:
        reached = 0.0
        for place, share in enumerate(FADED[step]):
            seen = audience[place] * share
            audience[place] -= seen
            reached += seen
        yield reached * VIEWS_OF_AN_AUDIENCE
        for _ in range(drawn(chance, fertile * reached / MEAN_REACH)):
            reach = min(chance.paretovariate(REACH), MOST_REACH)
            for place, share in enumerate(SO_FAST):
                audience[place] += reach * share


UNSEEN: dict[str, World] = {
    "decays": decays,
    "bursts": bursts,
    "jumps": jumps,
    "day and night": by_day_and_night,
    "slow burners": slow_burners,
}
# Every tweet does what few do. These are told and not judged: there is no quiet tweet from which
# look-ups could be taken.
EXTREMES: dict[str, World] = {"all jump": all_jump, "all burn slowly": all_slow}


def world(name: str, tweets: int, *, seed: int) -> list[Tweet]:
    chance, draw = random.Random(f"{seed} {name}"), (UNSEEN | EXTREMES)[name]
    made = []
    for _ in range(tweets):
        born = chance.randrange(DAY)
        figures = as_they_come(chance, draw(chance, born))
        made.append(Tweet(told(figures), found(chance), born, curves(figures)))
    return made


def as_they_come(chance: random.Random, expected: Iterable[float]) -> list[Figures]:
    """The figures at each of AGES: of views, each is a like or a retweet with some chance."""
    liked = min(0.2, 0.025 * math.exp(chance.gauss(0, 0.6)))
    shared = liked * chance.uniform(0.1, 0.3)
    views = likes = retweets = 0
    figures = []
    for gain in expected:
        if gain > 0:
            came = drawn(chance, gain)
            if came:
                views += came
                likes += drawn(chance, came * liked)
                retweets += drawn(chance, came * shared)
        figures.append((views, likes, retweets))
    return figures


def told(figures: Sequence[Figures]) -> Callable[[float], Figures]:
    def at(age: float) -> Figures:
        place = bisect_right(AGES, age)
        return figures[place - 1] if place else (0, 0, 0)

    return at


def gains(views: float, share: Callable[[float], float]) -> list[float]:
    """By the share of all views that have come at an age."""
    return [views * (after - before) for before, after in pairwise(map(share, (0.0, *AGES)))]


def size(chance: random.Random) -> float:
    return min(1e7, 40 + 1000 * math.exp(1.8 * chance.gauss(0, 1)))


def log_uniform(chance: random.Random, low: float, high: float) -> float:
    return math.exp(chance.uniform(math.log(low), math.log(high)))


def drawn(chance: random.Random, mean: float) -> int:
    """How many of many unlikely things happen, of which `mean` are expected (Poisson)."""
    if mean > MANY:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    enough = math.exp(-mean)
    many, product = 0, chance.random()
    while product > enough:
        many += 1
        product *= chance.random()
    return many
