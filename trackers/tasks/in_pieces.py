"""What a person began that takes longer than a task: one task after the other does a piece."""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial

from django.conf import settings

from trackers.ingest.sources import life
from trackers.ingest.sources.only_here import still_only_here
from trackers.schedule import bulk, replan
from trackers.sets.leaderboards.large import count_large

logger = logging.getLogger(__name__)


def go_on_replanning(turn: int) -> None:
    """After the intervals changed: re-plan what waits, for a third of a task's time."""
    replan.continue_replanning(
        turn, at_most=min(replan.TASK_LENGTH, timedelta(seconds=settings.TASK_TIMEOUT / 3))
    )


def go_on_with_bulk_act(id: int, turn: int) -> None:
    """After a person chose many tweets: pieces of them, for a third of a task's time."""
    act = bulk.find_act(id)
    if act is None:
        return
    source = act.source
    is_done = bulk.continue_act(
        act,
        turn,
        at_most=min(bulk.TASK_LENGTH, timedelta(seconds=settings.TASK_TIMEOUT / 3)),
        sieve=partial(still_only_here, source=source) if source is not None else None,
    )
    if not is_done:
        return
    if source is not None:
        # Last, so that what is left of it after a crash is found by the task that follows.
        life.remove_sources([source])
    bulk.finish_act(act)
    logger.info("done by %s: %s", act.by or "nobody known", act)


def count_large_leaderboard(id: int) -> None:
    """After somebody asked for a leaderboard of many posts: count it."""
    if row := count_large(id):
        logger.info("counted a leaderboard: %s", row)
