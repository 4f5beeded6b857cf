"""The figures of `manage.py status`, as one object that goes into JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from trackers.jobs.figures import figures
from trackers.jobs.models import Namespace, Worker
from trackers.jobs.queue import namespaces
from trackers.schedule import intervals
from trackers.tweets.counts import counts
from trackers.xapi.models import Credential


def status() -> dict[str, Any]:
    """Shapes and names are public (docs/commands.md). Times are ISO 8601 in UTC."""
    now, _ = intervals.current()
    tweets, queue = counts(), figures("tweet:update")
    return {
        "tracked": tweets["tracked"],
        # Everything that is tracked has a row in the queue, or rests, or was paused.
        "resting": tweets["tracked"] - queue.scheduled - tweets["paused"],
        "due": queue.due,
        "oldest_due_seconds": queue.oldest_due_seconds,
        "in_flight": queue.in_flight,
        "checked_last_minute": queue.checked_last_minute,
        "lateness_p50_seconds": queue.lateness_p50_seconds,
        "lateness_p99_seconds": queue.lateness_p99_seconds,
        "batch_fill": queue.batch_fill,
        "isolated": queue.isolated,
        "gone": tweets["gone"],
        "namespaces": [namespace(one, now=now) for one in Namespace.objects.all()],
        "credentials": [credential(one) for one in Credential.objects.shown()],
        "workers": [
            {
                "cluster": str(one.cluster),
                "host": one.host,
                "pid": one.pid,
                "started_at": iso(one.started_at),
                "seen_at": iso(one.seen_at),
                "doing": one.doing or one.kind,
            }
            for one in Worker.objects.all()
        ],
    }


def namespace(one: Namespace, *, now: datetime) -> dict[str, Any]:
    held = one.held(now=now)
    return {
        "name": one.name,
        "due": figures(one.name).due if one.name in namespaces() else 0,
        "held_until": iso(one.held_until) if held else None,
        "held_because": one.held_because if held else "",
        "paused": one.paused,
    }


def credential(one: Credential) -> dict[str, Any]:
    return {
        "name": one.name,
        "app": one.app.name,
        "project": one.project.name,
        "state": one.state,
        "reason": one.reason,
        "endpoints": [
            {
                "endpoint": window.endpoint,
                "limit": window.limit,
                "remaining": window.remaining,
                "resets_at": iso(window.resets_at),
            }
            for window in one.told()
        ],
        # Nothing counts what X bills yet.
        "tweet_days_today": None,
        "tweet_days_month": None,
    }


def iso(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None
