"""The first moments of a day, before its rationing: only the youngest are paid for.

a batch finds yesterday's rationing ─> it requests today's (tasks.ration_money)
                                   └─> older tweets come back in a moment, the young are looked up
With yesterday evening's, the old tweets that waited would take all the money in the morning.
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

# If it is still missing after this long, yesterday's is used: the budget holds without rationing,
# and no tweet should wait a whole day because nothing computes it.
MAX_WAIT_FOR_RATIONING = timedelta(minutes=10)

# Locks: the projects, in the order of ids, as everywhere. If another batch has asked already, no
# row is updated and nothing is enqueued.
_REQUEST_RATIONING = """
    UPDATE trackers_project SET rationing_requested_at = now()
    WHERE id = ANY(ARRAY(
        SELECT id FROM trackers_project
        WHERE id = ANY(%(projects)s::bigint[]) AND rationing_requested_at IS NULL
        ORDER BY id FOR NO KEY UPDATE))
"""


def limit_until_rationed(
    balances: Sequence[Balance], plan: Plan, *, now: datetime
) -> Sequence[Balance]:
    """The balances; those that await today's rationing pay for the youngest tier only."""
    provisional = {
        balance.project
        for balance in balances
        if plan.tiers
        and balance.usable
        and not balance.is_rationed
        and not _is_overdue(balance, now=now)
    }
    if not provisional:
        return balances
    unrequested = [
        balance.project
        for balance in balances
        if balance.project in provisional and balance.rationing_requested_at is None
    ]
    if unrequested:
        _request_rationing(unrequested)
    youngest = plan.tiers[0].younger_than
    return [
        replace(
            balance,
            reserved_for_younger=((youngest, 0), (youngest, balance.left or 0)),
            is_provisional=True,
        )
        if balance.project in provisional
        else balance
        for balance in balances
    ]


def _is_overdue(balance: Balance, *, now: datetime) -> bool:
    requested_at = balance.rationing_requested_at
    return requested_at is not None and now - requested_at > MAX_WAIT_FOR_RATIONING


def _request_rationing(projects: Sequence[int]) -> None:
    """Have it computed at once, without waiting for the next minute's run."""
    with transaction.atomic(), cursor() as db:
        if db.execute(_REQUEST_RATIONING, {"projects": array(projects)}).rowcount:
            ordinary.enqueue(_RATION_MONEY)
