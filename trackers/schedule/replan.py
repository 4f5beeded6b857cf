"""After the intervals change: a task moves what is scheduled to the new plan, in pieces.

asked for ─> a task: pieces for a few seconds, a transaction each ─> the next task ─> finished
Each piece records how far it came (`Replanning`), so a worker that dies loses at most one piece.
If the intervals change meanwhile, it starts over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from trackers.jobs import ordinary
from trackers.jobs.models import TWEET_UPDATE
from trackers.jobs.queue import new_stamp, on, queue_statement
from trackers.schedule import adapt, intervals
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Replanning
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.database import cursor

_CONTINUE_TASK = "trackers.tasks.go_on_replanning"

# Tweets per transaction. It locks at most as many buckets, fewer than a claim looks at
# (`tables.MOST_BUCKETS`), so that under backlog a claim always finds others.
TWEETS_PER_PIECE = 1000
# Longer than any piece takes: no claim can take what is due later than this before it ends.
_CLAIMABLE_SOON = timedelta(seconds=20)
# How long a task works; then other tasks have their turn.
TASK_LENGTH = timedelta(seconds=5)
# A task that was silent for this long was lost with its worker.
LOST_AFTER = timedelta(seconds=30)

_REPLAN_PIECE = queue_statement(__file__, "replan_piece", stretch_most=adapt.MAX_AT_LEAST_STRETCH)

# The planner's estimate is good enough for a progress bar.
_ESTIMATE_TWEETS = """
    SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'trackers_tweet'::regclass
"""


@dataclass(frozen=True, slots=True)
class ReplanningProgress:
    seen: int
    tweets: int
    moved: int
    woken: int
    finished: bool
    lost: bool  # no worker has continued it lately, or none has begun

    @property
    def percent(self) -> int:
        return 100 if self.finished else min(99, 100 * self.seen // max(self.tweets, 1))


def replan() -> None:
    """Re-plan all waiting look-ups by the current intervals, and wake resting tweets they cover.

    A re-planning that is under way starts over.
    """
    with transaction.atomic():
        Replanning.objects.get_or_create(pk=1)
        row = Replanning.objects.select_for_update().get()
        _begin_replanning(row, intervals.current()[1])
        _hand_over(row)


def continue_replanning(
    turn: int, *, at_most: timedelta = TASK_LENGTH, size: int = TWEETS_PER_PIECE
) -> None:
    """Plan pieces for a while, and hand over to the next task unless all is planned.

    With an earlier turn it does nothing: another task has taken its place.
    """
    end = time.monotonic() + at_most.total_seconds()
    while plan_piece(turn, size=size, is_last=time.monotonic() >= end):
        pass


def plan_piece(turn: int, *, size: int = TWEETS_PER_PIECE, is_last: bool = False) -> bool:
    """Plan the next piece; a task's last one hands over. True if this task is to continue."""
    with transaction.atomic():
        row = Replanning.objects.select_for_update().filter(turn=turn, finished_at=None).first()
        if row is None:
            return False
        _, plan = intervals.current()
        if row.plan != _plan_text(plan):
            _begin_replanning(row, plan)
        seen = _move_piece(row, size)
        if not plan.tiers or seen < size:
            row.finished_at = Now()
        elif is_last:
            _hand_over(row)
        row.touched_at = Now()
        row.save()
    return not is_last and row.finished_at is None


def _begin_replanning(row: Replanning, plan: Plan) -> None:
    with cursor() as db:
        estimated = db.execute(_ESTIMATE_TWEETS).fetchone()
    assert estimated is not None
    now, _ = intervals.current()
    row.plan, row.tweets, row.below = _plan_text(plan), estimated[0], LARGEST_ID
    row.begun_at, row.finished_at = now, None
    row.seen = row.moved = row.woken = row.overdue = 0


def _move_piece(row: Replanning, size: int) -> int:
    """Plan the next tweets below the row's mark and lower it; return how many there were."""
    params = {
        "queue": TWEET_UPDATE,
        "below": row.below,
        "size": size,
        "begun_at": row.begun_at,
        "overdue": row.overdue,
        "soon": _CLAIMABLE_SOON,
        "stamp": new_stamp(),
    }
    with cursor() as db:
        result = db.execute(on(TWEET_UPDATE, _REPLAN_PIECE), params).fetchone()
    assert result is not None
    seen, lowest, moved, woken, overdue = result
    row.below = row.below if lowest is None else lowest
    row.seen += seen
    row.moved += moved
    row.woken += woken
    row.overdue += overdue
    return int(seen)


def _hand_over(row: Replanning) -> None:
    """Have the next task, and no other, continue from the row. To be called in a transaction."""
    row.turn += 1
    row.touched_at = Now()
    row.save()
    ordinary.enqueue(_CONTINUE_TASK, row.turn)


def replace_lost() -> bool:
    """Replace a task that died with its worker; return whether there was one."""
    with transaction.atomic():
        row = (
            Replanning.objects.select_for_update(skip_locked=True)
            .filter(finished_at=None, touched_at__lt=Now() - LOST_AFTER)
            .first()
        )
        if row is not None:
            _hand_over(row)
    return row is not None


def replanning_progress() -> ReplanningProgress | None:
    """The progress of the latest re-planning; None: there never was one."""
    row = Replanning.objects.annotate(silent=Now() - F("touched_at")).first()
    if row is None or row.begun_at is None:
        return None
    finished = row.finished_at is not None
    lost = not finished and row.silent > 2 * LOST_AFTER
    return ReplanningProgress(row.seen, row.tweets, row.moved, row.woken, finished, lost)


def _plan_text(plan: Plan) -> str:
    return " ".join(
        f"{tier.younger_than.total_seconds():g}="
        + (
            f"{tier.every.total_seconds():g}"
            if tier.bounds is None
            else "{1:g}..{2:g}@{0:g}".format(*tier.bounds)
        )
        + f"~{tier.jitter:g}"
        for tier in plan.tiers
    )
