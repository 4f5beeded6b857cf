"""Ordinary tasks: functions called once, by dotted name, as soon as a worker is free."""

from __future__ import annotations

from typing import Any

from django_q.tasks import async_task


def enqueue(task: str, *args: Any) -> None:
    """Have a worker call the task once the caller's transaction has committed.

    It is kept until it is done: if its worker dies, it is handed out again after `retry` seconds.
    """
    async_task(task, *args)
