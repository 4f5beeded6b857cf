"""When will no tweet be behind any more? The backlog over the capacity that the plan leaves free.

due now ─┐
capacity ─┼─> catch_up ─> Forecast, for the pages and `status`
census ──┘
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from trackers.credentials import sentences
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.observed.models import Worker
from trackers.jobs.statistics import QueueSummary
from trackers.schedule.capacity import Capacity, capacity
from trackers.schedule.census import census
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch

# Seconds. A due tweet waits a little to fill a batch; one that waits longer than this is behind.
_BEHIND_AFTER = 30.0
# After this many failed requests in a row the queue is held until X answers (jobs.holds).
_OUTAGE_FAILURES = 3

CatchUpState = Literal["fresh", "soon", "never", "unknown"]


@dataclass(frozen=True, slots=True)
class CatchUp:
    state: CatchUpState
    length: timedelta | None = None  # until no tweet is behind; only if the state is "soon"
    after_outage: bool = False  # `length` counts from when X answers again
    limited_by: Literal["", "credentials", "workers"] = ""  # the reason for "never"
    demand: float = 0.0  # tweets a second
    allowed: float = 0.0  # tweets a second
    why: str = ""  # the reason for "unknown"


_NOTHING_BEHIND = CatchUp("fresh")
# Some credential could be used a moment ago, but none can now.
NO_USABLE_CREDENTIAL = "No credential can be used now."
NO_WORKERS = (
    "Start `.venv/bin/python manage.py qcluster`, or its service; nothing is checked until then."
)


def read_catch_up(plan: Plan, figures: QueueSummary, *, now: datetime) -> CatchUp:
    """The forecast for the tweets' queue. Reads more than `figures` only if something is behind."""
    if not _is_behind(figures):
        return _NOTHING_BEHIND
    queue = Queue.objects.get(pk=TWEET_UPDATE)
    if queue.paused:
        return CatchUp("unknown", why="The queue is paused.")
    demand = _planned_demand(plan, now=now)
    if demand is None:
        return CatchUp("unknown", why="A running qcluster has to count the tweets first.")
    available = capacity(queue.request_keys)
    if not available.usable:
        return CatchUp("unknown", why=sentences.nobody_may_ask() or NO_USABLE_CREDENTIAL)
    if not Worker.objects.alive(now=now).exists():
        return CatchUp("unknown", why=NO_WORKERS)
    return compute_catch_up(
        due=figures.due + figures.in_flight,
        capacity=available,
        demand=demand,
        held_for=_held_for(queue, now=now),
    )


def _planned_demand(plan: Plan, *, now: datetime) -> float | None:
    """Look-ups a second that the plan asks for; None: the tweets are not counted yet."""
    if plan.adapts:
        return Stretch.objects.values_list("demand", flat=True).first()
    return census(plan, now=now).demand


def _is_behind(figures: QueueSummary) -> bool:
    return figures.oldest_due_seconds > _BEHIND_AFTER


def _held_for(queue: Queue, *, now: datetime) -> timedelta | None:
    """How long requests are held; None, for an unknown time, while X fails."""
    if queue.failures >= _OUTAGE_FAILURES:
        return None
    until = queue.held_until
    return max(until - now, timedelta(0)) if until else timedelta(0)


def compute_catch_up(
    *, due: int, capacity: Capacity, demand: float, held_for: timedelta | None
) -> CatchUp:
    """The time until none of the `due` is behind, with `demand` more a second all the while.

    Errs on the long side: a tweet that is behind is not due again before it is looked up.
    """
    allowed = capacity.least
    if allowed is None:
        return CatchUp("unknown", why="X has not reported its rate limits yet.")
    if allowed <= demand:
        by: Literal["credentials", "workers"]
        by = "credentials" if allowed == capacity.windows else "workers"
        return CatchUp("never", limited_by=by, demand=demand, allowed=allowed)
    wait = held_for or timedelta(0)
    return CatchUp(
        "soon",
        length=wait + timedelta(seconds=due / (allowed - demand)),
        after_outage=held_for is None,
        demand=demand,
        allowed=allowed,
    )
