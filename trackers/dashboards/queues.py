"""The queues as pages show them: which run, which are paused or held, and why nothing is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from trackers.credentials import sentences
from trackers.dashboards.words import Moment, ahead, with_code
from trackers.jobs.models import Namespace, Worker
from trackers.jobs.pausing import paused_all


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    paused: bool
    held: Moment | None
    because: str
    failures: int

    @property
    def because_html(self) -> SafeString:
        return with_code(self.because)


def queues(rows: Iterable[Namespace], *, now: datetime) -> list[Queue]:
    return [
        Queue(
            name=namespace.name,
            paused=namespace.paused,
            held=ahead(namespace.held_until, now=now)
            if namespace.held_until and namespace.held(now=now)
            else None,
            because=namespace.held_because,
            failures=namespace.failures,
        )
        for namespace in rows
    ]


def why_idle(*, now: datetime) -> str:
    """Such as "no worker is running"; empty if tweets are being checked."""
    if paused_all():
        return "everything is paused"
    if not Worker.objects.alive(now=now).exists():
        return "no worker is running"
    return "no credential is enabled" if sentences.none_enabled() else ""
