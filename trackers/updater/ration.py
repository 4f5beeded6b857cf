"""Rationing: when the day's money is short, the oldest tweets wait first.

what is still to be paid for today, by tier ─> floors: how much a tweet leaves to younger ones
The floors are stored on the project's row, where each batch reads them (trackers.money.ledger).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from trackers.money import ledger
from trackers.money.ledger import Purse
from trackers.schedule.intervals import Plan
from trackers.updater.needs import DAY, Part, dry_at, needs
from tweetwatch.database import array, cursor

RATION = """
    UPDATE trackers_project
    SET floors = %(floors)s::jsonb, rationed_at = %(now)s, floors_wanted_at = NULL,
        needs = %(needs)s, waiting = %(waiting)s, runs_dry_at = %(dry_at)s
    WHERE id = %(project)s
"""

# Clears projects that have no budget, or no longer one. Writes nothing in the ordinary case.
UNRATION = """
    UPDATE trackers_project
    SET floors = '[]', rationed_at = NULL, floors_wanted_at = NULL,
        needs = NULL, waiting = 0, runs_dry_at = NULL
    WHERE id <> ALL(%(but)s::bigint[])
      AND (rationed_at IS NOT NULL OR floors_wanted_at IS NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Ration:
    """`floors` by tier, youngest first; empty when there is enough for all.

    `needs`: tweet-days that the rest of the day would take; `waiting`: how many of these must wait
    for the next day.
    """

    floors: tuple[int, ...]
    needs: int
    waiting: int


def ration_of(
    left: int, needs: Sequence[int], expected: int, variances: Sequence[float] = ()
) -> Ration:
    """What a tweet of each tier leaves to younger ones, with `left` tweet-days until midnight.

    `needs`: tweets to be paid for in each tier, youngest first, with the `variances` of these
    numbers if they are estimates; `expected`: tweets yet to come, which are younger than all these.
    """
    total = sum(needs) + expected
    # The variance of the arrivals is their expected number; those of younger tiers' estimates add
    # up. Tier n reserves n standard deviations, so that a surprise costs the oldest first. Those
    # that waited get what is left of it in the evening (trackers.updater.reserve).
    uncertain = accumulate(variances or [0.0] * len(needs), initial=float(expected))
    surprises = [round(math.sqrt(one) * tier) for tier, one in enumerate(uncertain)][: len(needs)]
    if total + max(surprises, default=0) <= left:
        return Ration((), total, 0)
    younger = accumulate(needs[:-1], initial=expected)
    # New tweets are in the first tier, which leaves nothing to others.
    floors = (
        need + surprise if tier else 0
        for tier, (need, surprise) in enumerate(zip(younger, surprises, strict=True))
    )
    return Ration(tuple(floors), total, max(total - left, 0))


def ration(plan: Plan, *, now: datetime) -> list[str]:
    """Write the floors of every project with a budget; return the names of those that are short.

    Each project is committed by itself, so that a run that is cut off half-way was of use.
    """
    purses = ledger.purses()
    limited = [purse for purse in purses if purse.left is not None and plan.tiers]
    with cursor() as db:
        db.execute(UNRATION, {"but": array(purse.project for purse in limited)})
    if not limited:
        return []
    # X's clocks differ by seconds. At midnight the projects that are still in the old day keep
    # that day's floors until the next minute.
    day = max(purse.day for purse in limited)
    limited = [purse for purse in limited if purse.day == day]
    next_day = now + (limited[0].next_day() - limited[0].now)
    needed = needs(plan, now=now, day=day, next_day=next_day)
    homeless_to = sum(purse.usable for purse in purses) or 1
    short = []
    for purse in limited:
        part = needed.of(purse.project, homeless_to=homeless_to)
        if ration_one(purse, part, plan, now=now).waiting:
            short.append(purse.name)
    return short


def ration_one(purse: Purse, part: Part, plan: Plan, *, now: datetime) -> Ration:
    assert purse.left is not None
    rest_of_day = (purse.next_day() - purse.now) / DAY
    counts = [round(count) for count in part.counts]
    found = ration_of(purse.left, counts, round(part.arrivals * rest_of_day), part.variances)
    write(purse, plan, found, dry_at(part.due, purse.left, now=now) if found.waiting else None)
    return found


def write(purse: Purse, plan: Plan, found: Ration, runs_dry_at: datetime | None) -> None:
    floors = [
        [tier.younger_than.total_seconds(), floor]
        for tier, floor in zip(plan.tiers, found.floors, strict=False)
    ]
    params: dict[str, Any] = {
        "project": purse.project,
        "floors": json.dumps(floors),
        # By X's clock, which says what day it is.
        "now": purse.now,
        "needs": found.needs,
        "waiting": found.waiting,
        "dry_at": runs_dry_at,
    }
    with cursor() as db:
        db.execute(RATION, params)
