"""When next? The pure rule: a tweet's age chooses the interval of its next look-up.

This is the seed's `getTweetUpdateDelay`, with None for its -1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trackers.schedule.models import Interval
from tweetwatch.database import ask

# Up to this far in the future a tweet's time is a difference of clocks; beyond it, a wrong date.
CLOCKS_DIFFER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Tier:
    younger_than: timedelta
    every: timedelta
    jitter: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The enabled intervals, by increasing age."""

    tiers: tuple[Tier, ...]

    def tier(self, created_at: datetime | None, *, now: datetime) -> Tier | None:
        """The tier of a tweet posted at `created_at`.

        None without that time, past the last tier, and when it is more than five minutes in the
        future. An age equal to a tier's bound belongs to the next tier.
        """
        if created_at is None or not self.tiers:
            return None
        age = now - created_at
        if age < -CLOCKS_DIFFER:
            return None
        # With a handful of tiers this is faster than a binary search.
        for tier in self.tiers:
            if age < tier.younger_than:
                return tier
        return None

    def is_urgent(self, tier: Tier | None) -> bool:
        """Whether this tier comes first under backlog: it is the youngest of several."""
        return tier is not None and tier is self.tiers[0] and len(self.tiers) > 1

    def update_delay(self, created_at: datetime | None, *, now: datetime) -> timedelta | None:
        """How long to wait before the next look-up; None: this tweet needs none."""
        tier = self.tier(created_at, now=now)
        return tier.every if tier else None


def plan(intervals: Iterable[Interval]) -> Plan:
    return Plan(
        tuple(
            sorted(
                (Tier(i.younger_than, i.every, i.jitter) for i in intervals if i.enabled),
                key=lambda tier: tier.younger_than,
            )
        )
    )


# Read with every batch, so in one round trip and without the ORM.
CURRENT = """
    SELECT now(), i.younger_than, i.every, i.jitter
    FROM (SELECT) once LEFT JOIN trackers_interval i ON i.enabled
    ORDER BY i.younger_than
"""


def current() -> tuple[datetime, Plan]:
    """The database's time, and the plan of the current rows."""
    [rows] = ask((CURRENT, {}))
    return read_current(rows)


def read_current(rows: Sequence[tuple[Any, ...]]) -> tuple[datetime, Plan]:
    """Parse the rows of CURRENT."""
    return rows[0][0], Plan(tuple(Tier(*row[1:]) for row in rows if row[1] is not None))


def update_delay(created_at: datetime | None, *, now: datetime) -> timedelta | None:
    """The seed's getTweetUpdateDelay on the intervals that are in force.

    The time to wait before the next look-up of a tweet posted at `created_at`, without jitter;
    None without that time, past the last tier, or when it is more than five minutes after `now`.
    """
    return current()[1].update_delay(created_at, now=now)


def jittered(tier: Tier, *, chance: float | None = None) -> timedelta:
    """The tier's interval, shifted by up to its jitter either way; `chance` (0 to 1) says where."""
    share = random.random() if chance is None else chance
    # In seconds: multiplying a timedelta by a float is exact, and takes four times as long.
    seconds = tier.every.total_seconds() * (1 + tier.jitter * (2 * share - 1))
    return timedelta(seconds=seconds)
