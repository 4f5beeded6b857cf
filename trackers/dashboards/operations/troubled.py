"""Tasks that failed or took long, and keys that are set aside, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from trackers.dashboards.words import Moment, ago, commas
from trackers.jobs.isolated import isolated_by_queue
from trackers.jobs.observed.tasks import NotedTask

_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class TroubledTask:
    name: str  # a queue, or an ordinary task
    keys: str
    ended: Moment
    took: str
    failed: bool
    reason: str
    where: str


@dataclass(frozen=True, slots=True)
class IsolatedKeys:
    """Keys of one queue."""

    queue: str
    keys: tuple[tuple[str, str], ...]
    more: bool  # there are others
    listed: str  # where all of them are


def troubled_tasks(*, now: datetime) -> list[TroubledTask]:
    return [_troubled_task(task, now=now) for task in NotedTask.objects.all()[:_MAX_SHOWN]]


def _troubled_task(task: NotedTask, *, now: datetime) -> TroubledTask:
    return TroubledTask(
        name=task.queue or task.name.removeprefix("trackers.tasks."),
        keys="" if task.keys is None else commas(task.keys),
        ended=ago(task.ended_at, now=now),
        took=f"{task.took.total_seconds():,.1f} s",
        failed=task.failed,
        reason=task.reason,
        where=f"{task.host}, pid {task.pid}",
    )


def isolated_keys() -> list[IsolatedKeys]:
    """Of each queue that has any."""
    return [
        IsolatedKeys(
            queue=name,
            keys=tuple((str(key), _retry_address(name, key)) for key in keys[:_MAX_SHOWN]),
            more=len(keys) > _MAX_SHOWN,
            listed=f"{reverse('tweets')}?state=isolated" if name == "tweet:update" else "",
        )
        for name, keys in isolated_by_queue(most=_MAX_SHOWN + 1).items()
    ]


def _retry_address(queue: str, key: int) -> str:
    """Where a person retries it; empty if there is no such page."""
    page = {"tweet:update": "tweet", "source:poll": "source"}.get(queue)
    return reverse(page, args=[key]) if page else ""
