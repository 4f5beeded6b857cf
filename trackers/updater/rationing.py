"""Rationing: when the day's money is short, the oldest tweets wait first.

what must still be paid for today, by tier ─> how much a tweet leaves to younger ones
This is stored on the project's row, where each batch reads them (trackers.money.balances).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any

from trackers.money.balances import Balance, read_balances
from trackers.schedule.intervals import Plan
from trackers.updater.evening_release import LAST_CALL, release_spare
from trackers.updater.needs import FULL_DAY, ProjectNeeds, dry_at, read_needs
from trackers.updater.reserve import EVENING
from tweetwatch.database import array, cursor

_STORE_RATION = """
    UPDATE trackers_project
    SET reserved_for_younger = %(reserved)s::jsonb, rationed_at = %(now)s,
        rationing_requested_at = NULL,
        needs = %(needs)s, waiting = %(waiting)s, runs_dry_at = %(dry_at)s
    WHERE id = %(project)s
"""

# Clears projects that have no budget, or no longer have one. Usually writes nothing.
_CLEAR_RATIONS = """
    UPDATE trackers_project
    SET reserved_for_younger = '[]', rationed_at = NULL, rationing_requested_at = NULL,
        needs = NULL, waiting = 0, runs_dry_at = NULL
    WHERE id <> ALL(%(but)s::bigint[])
      AND (rationed_at IS NOT NULL OR rationing_requested_at IS NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Ration:
    """How the tweet-days that a project has left today are shared out."""

    # What a tweet of each tier leaves to younger ones, youngest tier first; empty: there is enough.
    reserved_for_younger: tuple[int, ...]
    needs: int  # tweet-days that the rest of the day would take
    waiting: int  # how many of these must wait for the next day
    spare: int = 0  # tweet-days that are not expected to be needed today


def compute_ration(
    left: int, needs: Sequence[int], expected: int, variances: Sequence[float] = ()
) -> Ration:
    """What a tweet of each tier leaves to younger ones, with `left` tweet-days until midnight.

    `needs`: tweets to be paid for in each tier, youngest first, with the `variances` of these
    numbers if they are estimates; `expected`: tweets yet to arrive, younger than all of these.
    """
    total = sum(needs) + expected
    # The variance of the arrivals is their expected number; those of younger tiers' estimates add
    # up. Tier n reserves n standard deviations, so that a surprise costs the oldest first. What is
    # left of that goes in the evening to those that waited (trackers.updater.evening_release).
    uncertain = accumulate(variances or [0.0] * len(needs), initial=float(expected))
    surprises = [round(math.sqrt(variance) * tier) for tier, variance in enumerate(uncertain)][
        : len(needs)
    ]
    spare = left - total - max(surprises, default=0)
    if spare >= 0:
        return Ration((), total, 0, spare)
    younger = accumulate(needs[:-1], initial=expected)
    # New tweets are in the first tier, which leaves nothing to others.
    reserved = (
        need + surprise if tier else 0
        for tier, (need, surprise) in enumerate(zip(younger, surprises, strict=True))
    )
    return Ration(tuple(reserved), total, max(total - left, 0))


def ration_projects(plan: Plan, *, now: datetime) -> list[str]:
    """Ration every project with a budget; return the names of those that are short.

    Each project is committed separately, so an interrupted run keeps what it has written.
    """
    all_balances = read_balances()
    limited = [balance for balance in all_balances if balance.left is not None and plan.tiers]
    with cursor() as db:
        db.execute(_CLEAR_RATIONS, {"but": array(balance.project for balance in limited)})
    if not limited:
        return []
    # The projects' clocks differ by seconds. At midnight, projects still in the old day keep that
    # day's rationing until the next minute.
    day = max(balance.day for balance in limited)
    limited = [balance for balance in limited if balance.day == day]
    next_day = now + (limited[0].next_day() - limited[0].now)
    needed = read_needs(plan, now=now, day=day, next_day=next_day)
    usable = [balance for balance in all_balances if balance.usable]
    cannot_pay = [balance.project for balance in all_balances if not balance.usable]
    # Tweets that have no project go to the one with the most money left: to one without a budget.
    # While X refuses that one, the others pay (`shares`).
    has_unlimited = any(balance.left is None and balance.trusted for balance in usable)
    homeless_to = 0 if has_unlimited else len(usable)
    short = []
    for balance in limited:
        # A project that cannot pay now is rationed for its own tweets, for when it can.
        to = homeless_to if balance.usable else 0
        part = needed.of(balance.project, homeless_to=to, cannot_pay=cannot_pay)
        if _ration_project(balance, part, plan, now=now).waiting and balance.usable:
            short.append(balance.name)
    return short


def _ration_project(balance: Balance, part: ProjectNeeds, plan: Plan, *, now: datetime) -> Ration:
    assert balance.left is not None
    rest_of_day = (balance.next_day() - balance.now) / FULL_DAY
    counts = [round(count) for count in part.counts]
    ration = compute_ration(
        balance.left, counts, round(part.arrivals * rest_of_day), part.variances
    )
    _store_ration(
        balance, plan, ration, dry_at(part.due, balance.left, now=now) if ration.waiting else None
    )
    if ration.spare and balance.usable and LAST_CALL <= balance.next_day() - balance.now <= EVENING:
        release_spare(balance, ration.spare, now=now)
    return ration


def _store_ration(
    balance: Balance, plan: Plan, ration: Ration, runs_dry_at: datetime | None
) -> None:
    reserved = [
        [tier.younger_than.total_seconds(), posts]
        for tier, posts in zip(plan.tiers, ration.reserved_for_younger, strict=False)
    ]
    params: dict[str, Any] = {
        "project": balance.project,
        "reserved": json.dumps(reserved),
        # By X's clock, which says what day it is.
        "now": balance.now,
        "needs": ration.needs,
        "waiting": ration.waiting,
        "dry_at": runs_dry_at,
    }
    with cursor() as db:
        db.execute(_STORE_RATION, params)
