"""When next? The pure rule: a tweet's age chooses the interval of its next look-up.

This is the seed's `getTweetUpdateDelay`, with None for its -1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH, Bounds, adapted_wait, bounds
from trackers.schedule.models import Interval
from trackers.schedule.validate import IntervalRow
from trackers.tweets.models import Tweet
from trackers.tweets.pace import strangers_pace
from trackers.tweets.series import Usual
from tweetwatch.database import fetch_together

# Up to this far in the future a tweet's time is a difference of clocks; beyond it, a wrong date.
_CLOCKS_DIFFER = timedelta(minutes=5)
# How late a look-up may be in ordinary times: due times are whole seconds, and a batch fills.
_LATE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Tier:
    """A row in force."""

    younger_than: timedelta
    every: timedelta  # ignored with bounds: then it adapts
    jitter: float = 0.0
    bounds: Bounds | None = None

    def longest(self, stretch: float = 1.0) -> timedelta:
        """The longest wait for the next look-up, jitter aside."""
        if self.bounds is None:
            return self.every
        return timedelta(seconds=self.bounds.at_least * min(stretch, MAX_AT_LEAST_STRETCH))

    def wait(self, age: timedelta, stretch: float = 1.0) -> timedelta:
        """The wait of a tweet if only its age is known."""
        if self.bounds is None:
            return self.every
        seconds = max(age.total_seconds(), 1.0)
        return timedelta(
            seconds=adapted_wait(seconds, strangers_pace(seconds), self.bounds, stretch)
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The enabled intervals by increasing age, and the stretches of those that adapt: one for all
    waits, one for waits that end on another UTC day (`paid_days`)."""

    tiers: tuple[Tier, ...]
    stretch: float = 1.0
    day_stretch: float = 1.0

    def tier(self, created_at: datetime | None, *, now: datetime) -> Tier | None:
        """The tier of a tweet posted at `created_at`.

        None without that time, past the last tier, and when it is more than five minutes in the
        future. An age equal to a tier's bound belongs to the next tier. In SQL it is
        `trackers_tier_v1` (migrations/0004_rules.sql), and tests keep the two equal.
        """
        if created_at is None or not self.tiers:
            return None
        age = now - created_at
        if age < -_CLOCKS_DIFFER:
            return None
        # With a handful of tiers this is faster than a binary search.
        for tier in self.tiers:
            if age < tier.younger_than:
                return tier
        return None

    @property
    def adapts(self) -> bool:
        return any(tier.bounds for tier in self.tiers)

    def is_urgent(self, tier: Tier | None) -> bool:
        """Whether this tier comes first under backlog: only the youngest of several does."""
        return tier is not None and tier is self.tiers[0] and len(self.tiers) > 1

    def update_delay(self, created_at: datetime | None, *, now: datetime) -> timedelta | None:
        """How long to wait before the next look-up, by the age alone; None: it needs none."""
        tier = self.tier(created_at, now=now)
        if tier is None or created_at is None:
            return None
        return tier.wait(now - created_at, self.stretch)

    def hole_after(self, tier: Tier | None) -> timedelta | None:
        """The time without a measurement after which a tweet's run of metrics has a hole.

        Twice the longest wait; for a tweet too old for any tier, the last tier's. Never less than
        a wait that was planned at a larger stretch than the present one.
        """
        tier = tier or (self.tiers[-1] if self.tiers else None)
        if tier is None or tier.bounds is None:
            return 2 * tier.every if tier else None
        twice = 2 * tier.longest(self.stretch * self.day_stretch)
        return max(twice, (1 + tier.jitter) * tier.longest(MAX_AT_LEAST_STRETCH) + _LATE)


def plan(intervals: Iterable[Interval | IntervalRow]) -> Plan:
    return Plan(
        tuple(
            sorted(
                (
                    Tier(
                        i.younger_than,
                        i.every,
                        i.jitter,
                        bounds(i.accuracy, i.at_most, i.at_least),
                    )
                    for i in intervals
                    if i.enabled
                ),
                key=lambda tier: tier.younger_than,
            )
        )
    )


# Read with every batch, so in one round trip and without the ORM.
CURRENT = """
    SELECT now(), s.windows, s.money, i.younger_than, i.every, i.jitter,
           i.accuracy, i.at_most, i.at_least
    FROM (SELECT) once LEFT JOIN trackers_stretch s ON s.id = 1
    LEFT JOIN trackers_interval i ON i.enabled
    ORDER BY i.younger_than
"""


def current() -> tuple[datetime, Plan]:
    """The database's time, and the plan of the current rows."""
    [rows] = fetch_together((CURRENT, {}))
    return read_current(rows)


def read_current(rows: Sequence[tuple[Any, ...]]) -> tuple[datetime, Plan]:
    """Parse the rows of CURRENT."""
    now, stretch, day_stretch, *_ = rows[0]
    tiers = tuple(
        Tier(younger_than, every, jitter, bounds(*adapts))
        for _, _, _, younger_than, every, jitter, *adapts in rows
        if younger_than is not None
    )
    return now, Plan(tiers, stretch or 1.0, day_stretch or 1.0)


def update_delay(created_at: datetime | None, *, now: datetime) -> timedelta | None:
    """The seed's getTweetUpdateDelay with the intervals that are in force.

    The wait before the next look-up of a tweet posted at `created_at`, without jitter. None, the
    seed's -1: without that time, past the last tier, or if it is more than five minutes after
    `now`. Both times have a zone. Reads the intervals from the database, with each call.
    """
    return current()[1].update_delay(created_at, now=now)


def jittered(
    tier: Tier, wait: timedelta | None = None, *, chance: float | None = None
) -> timedelta:
    """The wait, by default the tier's interval, shifted by up to its jitter either way.

    `chance` (0 to 1) determines the shift.
    """
    share = random.random() if chance is None else chance
    # In seconds: multiplying a timedelta by a float is exact, and takes four times as long.
    seconds = (wait or tier.every).total_seconds() * (1 + tier.jitter * (2 * share - 1))
    return timedelta(seconds=seconds)


def usual_interval(tweet: Tweet, plan: Plan) -> Usual:
    """How often the plan checks this tweet, as a function of the time: half of what is a hole."""

    def every(at: datetime) -> timedelta | None:
        hole_after = plan.hole_after(plan.tier(tweet.created_at, now=at))
        return hole_after / 2 if hole_after else None

    return every
