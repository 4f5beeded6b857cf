"""What a list of intervals costs: pure, from the tweets by age as the census counted them.

Ages ─┐
rows ─┼─> cost ─> Cost; two of them, before and after ─> Change, to be confirmed if large
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from trackers.schedule.validate import Row

DAY = timedelta(days=1)
# A change that asks for more than so many times as much is confirmed.
CONFIRMED_ABOVE = 2.0
# Tweets of an age between two of these are taken to be spread evenly over it.
AGES = tuple(
    timedelta(minutes=minutes)
    for minutes in (0, 2, 5, 10, 18, 30, 60, 120, 240, 480, 1440, 2880, 4320)
) + tuple(timedelta(days=days) for days in (7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650, 36500))


@dataclass(frozen=True, slots=True)
class Tier:
    """From one age to another a tweet is looked up every so often."""

    since: timedelta
    until: timedelta
    every: timedelta


@dataclass(frozen=True, slots=True)
class Cost:
    """`life`: look-ups of one tweet in all; the others are a day's, at the tweets of today, or None
    while nobody has counted these. X bills a tweet once a day, however often it is looked up."""

    life: float
    lookups: float | None = None
    tweet_days: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    before: Cost
    after: Cost

    @property
    def times(self) -> float:
        """How many times as much it asks for, by what grows most."""
        pairs = [(self.before.life, self.after.life)]
        pairs += [(self.before.lookups or 0, self.after.lookups or 0)]
        pairs += [(self.before.tweet_days or 0, self.after.tweet_days or 0)]
        return max((after / before for before, after in pairs if before), default=1.0)

    @property
    def is_large(self) -> bool:
        return self.times > CONFIRMED_ABOVE


def tiers_of(rows: Iterable[Row]) -> list[Tier]:
    """The enabled rows, the youngest first."""
    ordered = sorted((row for row in rows if row.enabled), key=lambda row: row.younger_than)
    since, tiers = timedelta(0), []
    for row in ordered:
        tiers.append(Tier(since, row.younger_than, row.every))
        since = row.younger_than
    return tiers


def cost(rows: Iterable[Row], ages: Sequence[int] | None) -> Cost:
    """`ages`: how many tweets there are from each of AGES to the next."""
    tiers = tiers_of(rows)
    life = sum((tier.until - tier.since) / tier.every for tier in tiers)
    if ages is None:
        return Cost(life)
    lookups = tweet_days = 0.0
    for (since, until), count in zip(pairwise(AGES), ages, strict=True):
        for tier in tiers:
            shared = min(until, tier.until) - max(since, tier.since)
            if count and shared > timedelta(0):
                tweets = count * (shared / (until - since))
                lookups += tweets * (DAY / tier.every)
                tweet_days += tweets * min(1.0, DAY / tier.every)
    return Cost(life, lookups, tweet_days)
