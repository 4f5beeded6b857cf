"""The queues as pages show them: which run, which are paused or held, and why nothing is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from trackers.credentials import sentences
from trackers.dashboards.words import Moment, ahead, with_code
from trackers.jobs.models import Queue, Worker
from trackers.jobs.pausing import paused_all


@dataclass(frozen=True, slots=True)
class QueueState:
    name: str
    paused: bool
    held: Moment | None
    because: str
    failures: int

    @property
    def because_html(self) -> SafeString:
        return with_code(self.because)


def queue_states(queues: Iterable[Queue], *, now: datetime) -> list[QueueState]:
    return [
        QueueState(
            name=queue.name,
            paused=queue.paused,
            held=ahead(queue.held_until, now=now)
            if queue.held_until and queue.held(now=now)
            else None,
            because=queue.held_because,
            failures=queue.failures,
        )
        for queue in queues
    ]


def why_idle(*, now: datetime) -> str:
    """Such as "no worker is running"; empty if tweets are being checked."""
    if paused_all():
        return "everything is paused"
    if not Worker.objects.alive(now=now).exists():
        return "no worker is running"
    return "no credential is enabled" if sentences.none_enabled() else ""
