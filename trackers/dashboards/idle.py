"""Why no tweet is being checked, in a few words."""

from __future__ import annotations

from datetime import datetime

from trackers.credentials import trouble
from trackers.jobs.models import Worker
from trackers.jobs.pausing import paused_all


def idle(*, now: datetime) -> str:
    """Such as "no worker is running"; empty if tweets are being checked."""
    if paused_all():
        return "everything is paused"
    if not Worker.objects.alive(now=now).exists():
        return "no worker is running"
    return "no credential is enabled" if trouble.none_enabled() else ""
