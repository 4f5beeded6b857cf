"""Ordinary tasks: what is called once, by its dotted name, as soon as a worker is free."""

from __future__ import annotations

from typing import Any

from django_q.tasks import async_task


def enqueue(task: str, *args: Any) -> None:
    """Have a worker call it, once the caller's transaction is committed.

    It is kept until it is done: one whose worker dies is handed out again after `retry` seconds.
    """
    async_task(task, *args)
