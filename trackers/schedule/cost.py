"""What a list of intervals costs: pure, from the tweets by age as the census counted them.

Ages ─┐
rows ─┼─> cost ─> Cost; two of them, before and after ─> Change, to be confirmed if large
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from trackers.schedule.adapt import Bounds, adapted_wait, bounds
from trackers.schedule.validate import IntervalRow
from trackers.tweets.pace import strangers_pace

A_DAY = timedelta(days=1)
# A change that costs more than this many times as much must be confirmed.
_CONFIRMED_ABOVE = 2.0
# Tweets between two of these ages are assumed to be spread evenly.
CENSUS_AGES = tuple(
    timedelta(minutes=minutes)
    for minutes in (0, 2, 5, 10, 18, 30, 60, 120, 240, 480, 1440, 2880, 4320)
) + tuple(timedelta(days=days) for days in (7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650, 36500))


# The factor between steps of age, where waits change with age.
_AGE_STEP = 1.05


@dataclass(frozen=True, slots=True)
class Rate:
    """Look-ups and tweet-days of one tweet a day; the errors: the shares by which they may be off,
    since they come from a sample."""

    lookups: float
    days: float
    error: float = 0.0
    days_error: float = 0.0


@dataclass(frozen=True, slots=True)
class CostTier:
    """From one age to another."""

    since: timedelta
    until: timedelta
    rate: Rate
    life: float  # look-ups of one tweet in it


@dataclass(frozen=True, slots=True)
class Cost:
    """Per day, for today's tweets, except `life`; None while these are not counted. X bills a tweet
    once a day, however often it is looked up.
    """

    life: float  # look-ups of one tweet in all
    lookups: float | None = None
    tweet_days: float | None = None
    error: float = 0.0  # the share by which look-ups may be off where intervals adapt
    days_error: float = 0.0  # the same of tweet-days


@dataclass(frozen=True, slots=True)
class CostChange:
    before: Cost
    after: Cost

    @property
    def times(self) -> float:
        """How many times as much it costs, by the number that grows most."""
        pairs = [(self.before.life, self.after.life)]
        pairs += [(self.before.lookups or 0, self.after.lookups or 0)]
        pairs += [(self.before.tweet_days or 0, self.after.tweet_days or 0)]
        return max((after / before for before, after in pairs if before), default=1.0)

    @property
    def is_large(self) -> bool:
        return self.times > _CONFIRMED_ABOVE


def _tiers_of(rows: Iterable[IntervalRow], rates: Mapping[timedelta, Rate]) -> list[CostTier]:
    """The enabled rows, youngest first."""
    ordered = sorted((row for row in rows if row.enabled), key=lambda row: row.younger_than)
    since, tiers = timedelta(0), []
    for row in ordered:
        length = row.younger_than - since
        if (asked := bounds(row.accuracy, row.at_most, row.at_least)) is None:
            lookups, life = A_DAY / row.every, length / row.every
            rate = Rate(lookups, min(1.0, lookups))
        else:
            life = _usual_lookups(since, row.younger_than, asked)
            lookups = life * (A_DAY / length)
            rate = rates.get(row.younger_than) or Rate(lookups, min(1.0, lookups))
        tiers.append(CostTier(since, row.younger_than, rate, life))
        since = row.younger_than
    return tiers


def _usual_lookups(since: timedelta, until: timedelta, asked: Bounds) -> float:
    """Look-ups from one age to another of a tweet that grows like most tweets of its age."""
    age, end, lookups = max(since.total_seconds(), 1.0), until.total_seconds(), 0.0
    while age < end:
        step = min(age * (_AGE_STEP - 1), end - age)
        lookups += step / adapted_wait(age, strangers_pace(age), asked)
        age += step
    return lookups


def cost(
    rows: Iterable[IntervalRow],
    ages: Sequence[int] | None,
    rates: Mapping[timedelta, Rate] | None = None,
) -> Cost:
    """`ages`: how many tweets there are from each of AGES to the next. `rates`: those of today's
    tweets, by the age bound of the adapting row; without one, those of typical tweets."""
    tiers = _tiers_of(rows, rates or {})
    life = sum(tier.life for tier in tiers)
    if ages is None:
        return Cost(life)
    lookups = tweet_days = off = days_off = 0.0
    for (since, until), count in zip(pairwise(CENSUS_AGES), ages, strict=True):
        for tier in tiers:
            shared = min(until, tier.until) - max(since, tier.since)
            if count and shared > timedelta(0):
                tweets = count * (shared / (until - since))
                lookups += tweets * tier.rate.lookups
                tweet_days += tweets * tier.rate.days
                off += tweets * tier.rate.lookups * tier.rate.error
                days_off += tweets * tier.rate.days * tier.rate.days_error
    if not lookups:
        return Cost(life, lookups, tweet_days)
    return Cost(life, lookups, tweet_days, off / lookups, days_off / tweet_days)
