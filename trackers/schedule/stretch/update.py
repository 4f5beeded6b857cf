"""Once a minute: if windows or budgets have no room for all look-ups, stretch adapting waits.

census, sample ─> groups ─┬─> needed_stretch, for the windows ───────┐
windows of X ─> room ─────┤                                          ├─> one row, read with the
due now ─> backlog ───────┘                                          │   intervals
groups, budgets ─> allowance ─> needed_day_stretch, for the money ───┘
A new stretch applies when a tweet is next scheduled. What is scheduled already does not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.statistics import queue_summary
from trackers.money.allowance import tomorrows_allowance
from trackers.schedule.capacity import capacity
from trackers.schedule.census import CENSUS_AGES, census
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.population import groups
from trackers.schedule.stretch.days import needed_day_stretch, tweet_days
from trackers.schedule.stretch.solve import WINDOW_S, Group, lookups_due, needed_stretch


def update_stretch(plan: Plan, *, now: datetime) -> Stretch:
    """Compute both stretches and write them; 1 where nothing adapts, where X has reported no limit,
    and where there is no budget.

    What stretches cannot solve is left to the queue and to rationing: the oldest wait.
    """
    row = Stretch(pk=Stretch.ONLY, windows=1.0, money=1.0, taken_at=now)
    counted = census(plan, now=now)
    if plan.adapts and counted.tiers is not None:
        windows = capacity(Queue.objects.get(pk=TWEET_UPDATE).request_keys).windows
        fleet = groups(plan, counted.tiers, now=now)
        row.demand, row.room = lookups_due(fleet, 1.0) / WINDOW_S, windows
        row.backlog = queue_summary(TWEET_UPDATE).due
        if windows:
            row.windows = needed_stretch(fleet, room=windows * WINDOW_S, backlog=row.backlog)
        _stretch_for_money(row, fleet, _born_today(counted.ages))
    row.save()
    return row


def _stretch_for_money(row: Stretch, fleet: Sequence[Group], arrivals: float) -> None:
    """Compute the stretch for the budgets, from waits already stretched for the windows."""
    allowed = tomorrows_allowance()
    row.days_demand = tweet_days(fleet, 1.0, stretch=row.windows) + arrivals
    row.days_room, row.budget = allowed.tweet_days, allowed.budgets[:200]
    if allowed.tweet_days is not None:
        row.money = needed_day_stretch(
            fleet, allowed=allowed.tweet_days, arrivals=arrivals, stretch=row.windows
        )


def _born_today(ages: Sequence[int] | None) -> float:
    """How many of the tweets are younger than a day: about as many come each day."""
    return sum((ages or ())[: CENSUS_AGES.index(timedelta(days=1))])
