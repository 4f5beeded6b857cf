"""Once a minute: are X's windows wide enough for all looks? If not, adapting waits are stretched.

census, sample ─> groups ─┐
windows of X ─> room ─────┼─> needed_stretch ─> one row, read with the intervals
due now ─> backlog ───────┘
A new stretch applies when a tweet is next scheduled. Nothing that is scheduled moves.
"""

from __future__ import annotations

from datetime import datetime

from trackers.jobs.figures import figures
from trackers.jobs.models import Namespace
from trackers.schedule.capacity import capacity
from trackers.schedule.census import census
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.schedule.population import groups
from trackers.schedule.stretch import WINDOW_S, demand, needed_stretch


def restretch(plan: Plan, *, now: datetime) -> Stretch:
    """Work out the stretch and write it; 1 while X has told no limit, and where nothing adapts.

    What a stretch cannot help is left to the queue: its oldest keys wait.
    """
    row = Stretch(pk=Stretch.ONLY, windows=1.0, taken_at=now)
    counts = census(plan, now=now).tiers
    if plan.adapts and counts is not None:
        windows = capacity(Namespace.objects.get(pk=TWEET_UPDATE).request_keys).windows
        fleet = groups(plan, counts, now=now)
        row.demand, row.room = demand(fleet, 1.0) / WINDOW_S, windows
        row.backlog = figures(TWEET_UPDATE).due
        if windows:
            row.windows = needed_stretch(fleet, room=windows * WINDOW_S, backlog=row.backlog)
    row.save()
    return row
