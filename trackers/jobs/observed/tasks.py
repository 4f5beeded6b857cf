"""Tasks that failed or took long: the newest thousand, written by the worker that ran them.

django-q2 keeps the traceback of what raised an error. What a batch handles itself, such as a
request that X refused, raises none: the task calls `failed_because`, and its end writes the row.
A task that neither failed nor took long costs nothing here.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import connection
from django_q.signals import post_execute_in_worker, pre_execute

from trackers.jobs.batch import Batch
from trackers.jobs.models import MAX_REASON_LENGTH
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

_SLOW_AFTER = timedelta(seconds=10)
MAX_NOTED_TASKS = 1000
_HOST = socket.gethostname()


# Not flushed: nothing depends on it.
_RECORD_TASK = """
    INSERT INTO trackers_notedtask (queue, name, keys, took, failed, reason, host, pid)
    SELECT %(queue)s, %(name)s, %(keys)s, %(took)s, %(failed)s, %(reason)s, %(host)s, %(pid)s
    WHERE set_config('synchronous_commit', 'off', true) = 'off'
"""
# By the index of the ids, whatever the number of rows.
_PRUNE_NOTED_TASKS = """
    DELETE FROM trackers_notedtask WHERE id <= (
        SELECT id FROM trackers_notedtask ORDER BY id DESC OFFSET %(kept)s LIMIT 1)
"""


class RunningTask:
    """The task that this worker runs: since when, and what it said of its own failure."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.because = ""


running = RunningTask()


def failed_because(reason: str) -> None:
    """The task that runs here failed, and has handled the failure itself."""
    running.because = running.because or reason


def listen() -> None:
    """Connect to django-q2's signals; in the worker's process only."""
    pre_execute.connect(on_task_begin, weak=False)
    post_execute_in_worker.connect(on_task_end, weak=False)


def on_task_begin(**_: Any) -> None:
    running.since, running.because = time.monotonic(), ""


def on_task_end(task: dict[str, Any], **_: Any) -> None:
    if running.since is None:
        return
    took = timedelta(seconds=time.monotonic() - running.since)
    raised = not task.get("success", False)
    if not raised and not running.because and took < _SLOW_AFTER:
        return
    # An error here must not reach the task, nor the one after it.
    try:
        _record_task(
            task, took=took, failed=raised or bool(running.because), because=running.because
        )
    except Exception:
        logger.warning("A failed or slow task could not be recorded.", exc_info=True)
        with suppress(Exception):
            connection.close()


def _record_task(task: dict[str, Any], *, took: timedelta, failed: bool, because: str) -> None:
    args = task.get("args") or ()
    batch = args[0] if args and isinstance(args[0], Batch) else None
    params = {
        "queue": batch.queue if batch else "",
        "name": str(task["name"] if batch else task["func"])[:200],
        "keys": len(batch.keys) if batch else None,
        "took": took,
        "failed": failed,
        "reason": (because or _reason_of(task))[:MAX_REASON_LENGTH],
        "host": _HOST,
        "pid": os.getpid(),
    }
    with cursor() as db:
        db.execute(_RECORD_TASK, params)


def _reason_of(task: dict[str, Any]) -> str:
    """The last line of the traceback; empty where there is none."""
    if task.get("success", False):
        return ""
    lines = str(task.get("result") or "").strip().splitlines()
    return lines[-1].strip() if lines else ""


def prune_noted_tasks() -> int:
    """Delete all but the newest thousand."""
    with cursor() as db:
        return db.execute(_PRUNE_NOTED_TASKS, {"kept": MAX_NOTED_TASKS}).rowcount
