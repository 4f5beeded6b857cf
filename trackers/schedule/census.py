"""How many tweets there are, in which states, and how many a second the plan asks for.

a cluster ─ take ─> one row ─ census ─> pages, status, the forecast
Up to MAX_COUNTED_KEYS are counted each time. If there are more, all are counted, and the longer
that takes, the longer the pause after it. While no cluster runs, each reader makes the bounded
counts itself (as in jobs.statistics for the queues).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from trackers.jobs.statistics import (
    DATABASE_NOW,
    FRESH_FOR,
    MAX_COUNTED_KEYS,
    ONE_PROCESS,
    PAUSE_FACTOR,
    TAKEN_EVERY,
)
from trackers.schedule.intervals import Plan
from trackers.schedule.models import TweetCensus
from trackers.tweets.snowflake import first_id_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# Tweets between two of these ages are assumed to be spread evenly.
CENSUS_AGES = tuple(
    timedelta(minutes=minutes)
    for minutes in (0, 2, 5, 10, 18, 30, 60, 120, 240, 480, 1440, 2880, 4320)
) + tuple(timedelta(days=days) for days in (7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650, 36500))

_COUNT_BOUNDED = statement(__file__, "counted", few=f"LIMIT {MAX_COUNTED_KEYS}")
_COUNT_ALL = statement(__file__, "counted", few="")


@dataclass(frozen=True, slots=True)
class Census:
    tracked: int
    gone: int
    paused: int
    unreadable: int
    # Look-ups a second that keep all scheduled tweets as fresh as the plan wants; None: there are
    # more than were counted.
    demand: float | None
    taken_at: datetime
    is_counted: bool = True  # False when `tracked` is only an estimate
    # The tweets by age, by CENSUS_AGES; gone and paused ones are left out by their share.
    # All as of `taken_at`.
    ages: list[int] | None = None
    # Scheduled tweets in each tier, youngest first; None: there are more than were counted.
    tiers: list[int] | None = None


def census(plan: Plan, *, now: datetime) -> Census:
    """The latest census of a cluster; if no cluster counts, what there is now, up to MOST."""
    row = TweetCensus.objects.annotate(now=DATABASE_NOW).first()
    if (
        row
        and row.taken_at
        and row.now <= row.taken_at + max(FRESH_FOR, 2 * PAUSE_FACTOR * row.took)
    ):
        return _census_of(row)
    seen = count_bounded(plan, now=now)
    return _census_of(row) if row and row.taken_at and not seen.is_counted else seen


def record_census(plan: Plan, *, now: datetime) -> bool:
    """Write the census for all readers; False if another cluster does, or the last is recent."""
    last, _ = TweetCensus.objects.get_or_create(pk=TweetCensus.ONLY)
    pause = max(TAKEN_EVERY, PAUSE_FACTOR * last.took)
    with transaction.atomic():
        # Lock: this row alone. Skip it if it is locked: another cluster is counting.
        row = (
            TweetCensus.objects.select_for_update(skip_locked=True)
            .filter(Q(taken_at=None) | Q(taken_at__lte=DATABASE_NOW - pause))
            .first()
        )
        if row is None:
            return False
        counted, row.took = count_bounded(plan, now=now), timedelta(0)
        if not counted.is_counted:
            began = time.monotonic()
            counted = _count_all(plan, now=now)
            row.took = timedelta(seconds=time.monotonic() - began)
        for field in fields(counted):
            setattr(row, field.name, getattr(counted, field.name))
        row.save()
    return True


def _census_of(row: TweetCensus) -> Census:
    return Census(**{field.name: getattr(row, field.name) for field in fields(Census)})


def count_bounded(plan: Plan, *, now: datetime) -> Census:
    """Count up to MOST of each; beyond that `tracked` is the planner's estimate."""
    at, gone, paused, unreadable, scheduled, estimate, ages = _read_counts(
        _COUNT_BOUNDED, plan, now=now
    )
    tracked, tiers = _total(ages), _by_tier(plan, scheduled)
    is_counted = tracked < MAX_COUNTED_KEYS
    return Census(
        tracked=tracked if is_counted else max(tracked, estimate),
        gone=gone,
        paused=paused,
        unreadable=unreadable,
        demand=_plan_demand(plan, tiers) if is_counted else None,
        taken_at=at,
        is_counted=is_counted,
        ages=_by_age(ages, resting=gone + paused) if is_counted else None,
        tiers=tiers if is_counted else None,
    )


def _count_all(plan: Plan, *, now: datetime) -> Census:
    """Count all, without the server's parallel workers. To be called in a transaction."""
    with cursor() as db:
        db.execute(ONE_PROCESS)
    at, gone, paused, unreadable, scheduled, _, ages = _read_counts(_COUNT_ALL, plan, now=now)
    tiers, left = _by_tier(plan, scheduled), _by_age(ages, resting=gone + paused)
    return Census(
        _total(ages),
        gone,
        paused,
        unreadable,
        _plan_demand(plan, tiers),
        at,
        ages=left,
        tiers=tiers,
    )


def _read_counts(query: str, plan: Plan, *, now: datetime) -> tuple[Any, ...]:
    def bounds(ages: Iterable[timedelta]) -> Any:
        return array(first_id_at(int((now - age).timestamp() * 1000)) for age in ages)

    params = {
        "bounds": bounds(tier.younger_than for tier in reversed(plan.tiers)),
        "ages": bounds(reversed(CENSUS_AGES)),
    }
    with cursor() as db:
        row = db.execute(query, params).fetchone()
    assert row is not None
    return row


def _total(cells: Iterable[tuple[int, int]] | None) -> int:
    return sum(many for _, many in cells or ())


def _by_age(cells: Iterable[tuple[int, int]] | None, *, resting: int) -> list[int]:
    """Counts from each of AGES to the next; tweets from the future count as the youngest."""
    counts = [0] * (len(CENSUS_AGES) - 1)
    for cell, many in cells or ():
        # Cell 0 is older than all AGES, and the last one has ids ahead of the clock.
        if cell:
            counts[max(0, len(CENSUS_AGES) - 1 - cell)] += many
    whole = sum(counts)
    return [round(many * max(0, whole - resting) / whole) if whole else 0 for many in counts]


def _by_tier(plan: Plan, tiers: Iterable[tuple[int, int]] | None) -> list[int]:
    """Youngest first, from pairs: the tier (1 is the oldest) and the tweets scheduled in it."""
    counts: dict[int, int] = dict(tiers or ())
    return [counts.get(place, 0) for place in range(len(plan.tiers), 0, -1)]


def _plan_demand(plan: Plan, tiers: Sequence[int]) -> float:
    """Look-ups a second, from the number of tweets in each tier.

    Where a row adapts, as if all waited as long as they may: see `Stretch.demand` for the truth.
    """
    return sum(
        many / tier.longest().total_seconds() for tier, many in zip(plan.tiers, tiers, strict=True)
    )
