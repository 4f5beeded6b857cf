"""Ordinary tasks: functions called by dotted name, once, as soon as a worker is free, or brought
forward in django-q2's own scheduler, which looks every half minute."""

from __future__ import annotations

import logging
from typing import Any

from django.db.models.functions import Now
from django_q.models import Schedule
from django_q.tasks import async_task

from tweetwatch.pieces import PieceWork

logger = logging.getLogger(__name__)


def enqueue(task: str, *args: Any) -> None:
    """Have a worker call the task once the caller's transaction has committed.

    It is kept until it is done: if its worker dies, it is handed out again after `retry` seconds.
    """
    async_task(task, *args)


def run_soon(task: str) -> None:
    """Have the task run at the scheduler's next look, whatever its schedule says. However often
    this is called, it runs once. A schedule that a person switched off, or removed, stays so."""
    Schedule.objects.filter(func=task).exclude(repeats=0).update(next_run=Now())


def log_pruned(worked: PieceWork, what: str, *, task: str) -> None:
    """Log what a periodic task achieved; have it run again soon if its time ran out first."""
    if worked.left:
        run_soon(task)
        logger.info("deleted %d old %s; %d are left for soon", worked.rows, what, worked.left)
    elif worked.rows:
        logger.info("deleted %d old %s", worked.rows, what)
