"""Rationing: when the day's money is short, the oldest tweets wait first.

what is still to be paid for today, by tier ─> floors: how much a tweet leaves to younger ones
The floors are written on the project's row, where each batch reads them (trackers.xapi.ledger).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db import transaction

from trackers.schedule.intervals import Plan
from trackers.tweets.snowflake import LOW_BITS, TWEPOCH_MS, first_id_at
from trackers.updater.models import TweetUpdate
from trackers.xapi import ledger
from trackers.xapi.ledger import Purse
from tweetwatch.database import array, cursor

# Tweets that X is to be asked for before the day is over, and that it has not billed yet today, by
# the project that paid for them last and by tier (0 is the youngest). One that was never looked up
# is as old as its id. What X shows no longer costs nothing.
BORN_MS = f"coalesce(extract(epoch FROM t.created_at) * 1000, (t.id >> {LOW_BITS}) + {TWEPOCH_MS})"
NEEDS = f"""
    SELECT t.paid_by,
           least(width_bucket((%(now_ms)s - {BORN_MS})::float8, %(bounds)s::float8[]),
                 cardinality(%(bounds)s::float8[]) - 1) AS tier,
           count(*)
    FROM {TweetUpdate._meta.db_table} j JOIN trackers_tweet t ON t.id = j.key
    WHERE j.due_at < %(next_day)s AND t.gone_at IS NULL
      AND (t.paid_on IS NULL OR t.paid_on < %(day)s)
    GROUP BY 1, 2
"""
# Tweets of the last 24 hours: about as many will come in the next.
ARRIVALS = "SELECT count(*) FROM trackers_tweet WHERE id > %(id)s"

# When as many as there is money for will have come up.
DRY_AT = f"""
    SELECT j.due_at
    FROM {TweetUpdate._meta.db_table} j JOIN trackers_tweet t ON t.id = j.key
    WHERE j.due_at < %(next_day)s AND t.gone_at IS NULL
      AND (t.paid_on IS NULL OR t.paid_on < %(day)s)
      AND (t.paid_by = %(project)s OR t.paid_by IS NULL)
    ORDER BY j.due_at OFFSET %(left)s LIMIT 1
"""

# Held until the end of the transaction, so that one worker reckons and the others go on.
TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%(key)s)"
RATIONING = 0x726174696F6E

RATION = """
    UPDATE trackers_project
    SET floors = %(floors)s::jsonb, rationed_at = %(now)s, needs = %(needs)s,
        waiting = %(waiting)s, runs_dry_at = %(dry_at)s
    WHERE id = %(project)s
"""

# Where there is no budget (any more) there is nothing to tell. Writes nothing in the ordinary case.
UNRATION = """
    UPDATE trackers_project
    SET floors = '[]', rationed_at = NULL, needs = NULL, waiting = 0, runs_dry_at = NULL
    WHERE id <> ALL(%(but)s::bigint[]) AND rationed_at IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Ration:
    """`floors` by tier, youngest first; empty when there is enough for all.

    `needs`: tweet-days that the rest of the day would take; `waiting`: how many of them have to
    wait for the next day.
    """

    floors: tuple[int, ...]
    needs: int
    waiting: int


def ration_of(left: int, needs: Sequence[int], expected: int) -> Ration:
    """What a tweet of each tier leaves to younger ones, with `left` tweet-days until midnight.

    `needs`: tweets of each tier, youngest first, that are to be paid for; `expected`: new ones
    that will come, which are younger than all of them.
    """
    total = sum(needs) + expected
    # So many come, give or take: each older tier leaves one deviation more to them than the tier
    # before it, so that a surprise costs the oldest first. What is left of it in the evening, the
    # waiting ones get (trackers.updater.reserve).
    surprise = math.sqrt(expected)
    if total + round(surprise * (len(needs) - 1)) <= left:
        return Ration((), total, 0)
    younger = accumulate(needs[:-1], initial=expected)
    # New ones are of the first tier, which leaves nothing to anyone.
    floors = (need + round(surprise * tier) if tier else 0 for tier, need in enumerate(younger))
    return Ration(tuple(floors), total, max(total - left, 0))


def rationed(purses: Sequence[Purse], plan: Plan, *, now: datetime) -> Sequence[Purse] | None:
    """The purses with the floors of today; None while another worker reckons them.

    Those of yesterday's evening would let the old ones that waited take all in the morning.
    """
    if not plan.tiers or all(purse.is_rationed for purse in purses):
        return purses
    with transaction.atomic(), cursor() as db:
        is_ours = db.execute(TRY_LOCK, {"key": RATIONING}).fetchone() == (True,)
        if is_ours:
            ration(plan, now=now)
    return ledger.purses() if is_ours else None


def ration(plan: Plan, *, now: datetime) -> list[str]:
    """Write the floors of every project with a budget; the names of those that are short."""
    purses = ledger.purses()
    limited = [purse for purse in purses if purse.left is not None and plan.tiers]
    with cursor() as db:
        db.execute(UNRATION, {"but": [purse.project for purse in limited]})
    if not limited:
        return []
    homeless_to = sum(purse.usable for purse in purses) or 1
    short = []
    for purse in limited:
        assert purse.left is not None
        next_day = now + (purse.next_day() - purse.now)
        needs = needs_of(purse, plan, homeless_to, now=now, next_day=next_day)
        expected = round(arrivals(now=now) * ((next_day - now) / timedelta(days=1)) / homeless_to)
        found = ration_of(purse.left, needs, expected)
        write(purse, plan, found, next_day=next_day)
        if found.waiting:
            short.append(purse.name)
    return short


def needs_of(
    purse: Purse, plan: Plan, homeless_to: int, *, now: datetime, next_day: datetime
) -> list[int]:
    """By tier, what this project is to pay for; of tweets without a project its share."""
    bounds = [tier.younger_than.total_seconds() * 1000 for tier in plan.tiers]
    params = {
        "now_ms": now.timestamp() * 1000,
        "bounds": array(bounds),
        "day": purse.day,
        "next_day": next_day,
    }
    needs = [0.0] * len(bounds)
    with cursor() as db:
        for paid_by, tier, count in db.execute(NEEDS, params):
            if paid_by == purse.project:
                needs[tier] += count
            elif paid_by is None:
                needs[tier] += count / homeless_to
    return [round(need) for need in needs]


def arrivals(*, now: datetime) -> int:
    yesterday_ms = int((now - timedelta(days=1)).timestamp() * 1000)
    with cursor() as db:
        found = db.execute(ARRIVALS, {"id": first_id_at(yesterday_ms)}).fetchone()
    return found[0] if found else 0


def write(purse: Purse, plan: Plan, found: Ration, *, next_day: datetime) -> None:
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
        "dry_at": dry_at(purse, next_day=next_day, day=purse.day) if found.waiting else None,
    }
    with cursor() as db:
        db.execute(RATION, params)


def dry_at(purse: Purse, *, next_day: datetime, day: date) -> datetime | None:
    params = {
        "project": purse.project,
        "left": purse.left,
        "day": day,
        "next_day": next_day,
    }
    with cursor() as db:
        found = db.execute(DRY_AT, params).fetchone()
    return found[0] if found else None
