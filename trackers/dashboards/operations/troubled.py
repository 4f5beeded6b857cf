"""Tasks that failed or took long, and keys that are set aside, as the page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from trackers.dashboards.words import Moment, ago, counted
from trackers.jobs.isolated import isolated
from trackers.jobs.observed.tasks import NotedTask

SHOWN_MOST = 20


@dataclass(frozen=True, slots=True)
class Troubled:
    """`name` is a queue, or an ordinary task."""

    name: str
    keys: str
    ended: Moment
    took: str
    failed: bool
    reason: str
    where: str


@dataclass(frozen=True, slots=True)
class Isolated:
    """Keys of one queue. `more`: there are others; `listed` is where all of them are."""

    queue: str
    keys: tuple[tuple[str, str], ...]
    more: bool
    listed: str


def troubled_tasks(*, now: datetime) -> list[Troubled]:
    return [troubled(one, now=now) for one in NotedTask.objects.all()[:SHOWN_MOST]]


def troubled(task: NotedTask, *, now: datetime) -> Troubled:
    return Troubled(
        name=task.namespace or task.name.removeprefix("trackers.tasks."),
        keys="" if task.keys is None else counted(task.keys),
        ended=ago(task.ended_at, now=now),
        took=f"{task.took.total_seconds():,.1f} s",
        failed=task.failed,
        reason=task.reason,
        where=f"{task.host}, pid {task.pid}",
    )


def isolated_keys() -> list[Isolated]:
    """Of each queue that has any."""
    return [
        Isolated(
            queue=name,
            keys=tuple((str(key), address(name, key)) for key in keys[:SHOWN_MOST]),
            more=len(keys) > SHOWN_MOST,
            listed=f"{reverse('tweets')}?state=isolated" if name == "tweet:update" else "",
        )
        for name, keys in isolated(most=SHOWN_MOST + 1).items()
    ]


def address(queue: str, key: int) -> str:
    """Where a person retries it; empty if there is no such page."""
    page = {"tweet:update": "tweet", "source:poll": "source"}.get(queue)
    return reverse(page, args=[key]) if page else ""
