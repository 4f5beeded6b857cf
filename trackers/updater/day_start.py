"""The first moments of a day, before its floors are computed: only the youngest are paid for.

a batch finds yesterday's floors ─> it has new ones computed (tasks.ration_money)
                                └─> older tweets come back in a moment, the young are looked up
With yesterday evening's floors, the old tweets that waited would take all the money in the morning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction

from trackers.jobs import ordinary
from trackers.money.balances import Balance
from trackers.schedule.intervals import Plan
from tweetwatch.database import array, cursor

_RATION_MONEY = "trackers.tasks.ration_money"

# If new floors are still missing after this long, yesterday's are used: the budget holds without
# floors, and no tweet should wait a whole day because nothing computes them.
MAX_WAIT_FOR_FLOORS = timedelta(minutes=10)

# Locks: the projects, in the order of ids, as everywhere. If another batch has asked already, no
# row is updated and nothing is enqueued.
_REQUEST_FLOORS = """
    UPDATE trackers_project SET floors_wanted_at = now()
    WHERE id = ANY(ARRAY(
        SELECT id FROM trackers_project
        WHERE id = ANY(%(projects)s::bigint[]) AND floors_wanted_at IS NULL
        ORDER BY id FOR NO KEY UPDATE))
"""


def limit_until_rationed(
    balances: Sequence[Balance], plan: Plan, *, now: datetime
) -> Sequence[Balance]:
    """The balances; those that await today's floors pay for the youngest tier only."""
    awaiting = {
        balance.project
        for balance in balances
        if plan.tiers
        and balance.usable
        and not balance.is_rationed
        and not _is_overdue(balance, now=now)
    }
    if not awaiting:
        return balances
    unasked = [
        balance.project
        for balance in balances
        if balance.project in awaiting and balance.floors_wanted_at is None
    ]
    if unasked:
        _request_floors(unasked)
    youngest = plan.tiers[0].younger_than
    return [
        replace(balance, floors=((youngest, 0), (youngest, balance.left or 0)), awaits_floors=True)
        if balance.project in awaiting
        else balance
        for balance in balances
    ]


def _is_overdue(balance: Balance, *, now: datetime) -> bool:
    wanted_at = balance.floors_wanted_at
    return wanted_at is not None and now - wanted_at > MAX_WAIT_FOR_FLOORS


def _request_floors(projects: Sequence[int]) -> None:
    """Have the floors computed at once, without waiting for the next minute's run."""
    with transaction.atomic(), cursor() as db:
        if db.execute(_REQUEST_FLOORS, {"projects": array(projects)}).rowcount:
            ordinary.enqueue(_RATION_MONEY)
