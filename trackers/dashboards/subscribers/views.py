"""The pages of subscribers: all of them, and one with its batches and its attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_SUBSCRIBERS, needs
from trackers.dashboards.charts.small import Sparkline, by_minute
from trackers.dashboards.parts import render_parts
from trackers.dashboards.subscribers.attempts import AttemptsForm
from trackers.dashboards.words import commas
from trackers.events.delivery.models import Attempt
from trackers.events.minutes import Hour, hours_of_subscribers, hours_of_topics
from trackers.events.models import HEALTHY, EventBatch, Subscriber
from trackers.events.set_aside import head_that_stands
from trackers.events.subscribers.status import (
    SubscriberStatus,
    staged,
    status_of,
    subscriber_statuses,
    topics,
)
from trackers.schedule.intervals import current
from tweetwatch.notation import to_the_minute

# How many batches at the head of the line, and how many of the newest attempts.
_MAX_BATCHES, _MAX_ATTEMPTS = 20, 50

_OUTCOME_MOODS = {
    "delivered": "",
    "failed": "bad",
    "throttled": "warn",
    "lost": "warn",
    "late": "warn",
}
_BATCH_STATES = {"early": "waits", "ready": "due", "pending": "on its way"}
# If something waits longer than this for no reason, a person should look.
_WAITS_TOO_LONG = timedelta(minutes=5)
_BADGES = {
    "ready": ("active", ""),
    "waiting": ("failing", "warn"),
    "paused": ("paused", "soft"),
    "disabled": ("disabled", "bad"),
}


@dataclass(frozen=True, slots=True)
class SubscriberRow:
    status: SubscriberStatus
    host: str
    badge: str
    mood: str
    note: str  # what a person should know
    is_late: bool
    rate: str
    spark: Sparkline | None


@require_safe
@needs(VIEW_SUBSCRIBERS)
def subscribers(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    parts = {"list": lambda: _subscribers_context(now=now)}
    return render_parts(request, "dashboards/subscribers/list.html", parts, shared={"now": now})


@require_safe
@needs(VIEW_SUBSCRIBERS)
def subscriber(request: HttpRequest, id: int) -> HttpResponse:
    subscriber = get_subscriber(id)
    outcome = request.GET.get("outcome", "")
    if outcome not in ("", *Attempt.Outcome.values):
        raise Http404(f"{outcome[:80]!r} is not an outcome of an attempt.")
    now, _ = current()
    form = AttemptsForm(request.GET)
    parts = {"detail": lambda: _subscriber_context(subscriber, outcome, form, now=now)}
    shared = {"now": now, "period": form.query()}
    return render_parts(request, "dashboards/subscribers/detail.html", parts, shared=shared)


def _subscribers_context(*, now: datetime) -> dict[str, Any]:
    delivered, published = hours_of_subscribers(), hours_of_topics()
    rows = [
        _subscriber_row(item, delivered.get(item.subscriber.pk, Hour()))
        for item in subscriber_statuses(now=now)
    ]
    by_topic = [(topic, published.get(topic.pk, Hour())) for topic in topics()]
    return {
        "rows": rows,
        "topics": [
            (topic, _rate_text(hour), _hour_curve(hour, "published")) for topic, hour in by_topic
        ],
        "staged": staged(),
        "behind": _is_behind(rows),
    }


def _subscriber_context(
    subscriber: Subscriber, outcome: str, form: AttemptsForm, *, now: datetime
) -> dict[str, Any]:
    attempts = Attempt.objects.newest_of(
        subscriber, limit=_MAX_ATTEMPTS, outcome=outcome, **form.period()
    )
    batches = subscriber.batches_in_line()[: _MAX_BATCHES + 1]
    set_aside = subscriber.batches_set_aside()[: _MAX_BATCHES + 1]
    row = _subscriber_row(
        status_of(subscriber, now=now),
        hours_of_subscribers(subscriber.pk).get(subscriber.pk, Hour()),
    )
    return {
        "line": row,
        "headers": sorted(subscriber.secrets.get("headers") or ()),
        "subscriber": subscriber,
        "books": row.status.books,
        "behind": _is_behind([row]),
        "batches": [
            (batch, _BATCH_STATES[batch.state], _ready_at(batch, now=now))
            for batch in batches[:_MAX_BATCHES]
        ],
        "more_batches": len(batches) > _MAX_BATCHES,
        "set_aside": set_aside[:_MAX_BATCHES],
        "more_set_aside": len(set_aside) > _MAX_BATCHES,
        "stands": head_that_stands(subscriber),
        "attempts": [(attempt, _OUTCOME_MOODS[attempt.outcome]) for attempt in attempts],
        "more_attempts": len(attempts) == _MAX_ATTEMPTS,
        "outcome": outcome,
        "outcomes": Attempt.Outcome.values,
        "attempts_form": form,
    }


def get_subscriber(id: int) -> Subscriber:
    subscribers = Subscriber.objects.filter(removed_at=None).select_related("state")
    return get_object_or_404(subscribers, pk=id)


def _ready_at(batch: EventBatch, *, now: datetime) -> datetime | None:
    """When a waiting one becomes ready. One that is due does with a deliverer's next turn."""
    waits = batch.state == EventBatch.State.EARLY and batch.deadline > now
    return batch.deadline if waits else None


def _subscriber_row(status: SubscriberStatus, hour: Hour) -> SubscriberRow:
    """`hour`: what was delivered to it."""
    is_failing = status.state == "ready" and status.subscriber.state.failing_since is not None
    badge, mood = _BADGES["waiting" if is_failing else status.state]
    waited = status.oldest_seconds
    return SubscriberRow(
        status,
        # A callback may carry a secret in its path.
        host=urlsplit(status.subscriber.callback).netloc,
        badge=badge,
        mood=mood,
        note=_describe_subscriber(status),
        is_late=waited is not None and waited > _WAITS_TOO_LONG.total_seconds(),
        rate=_rate_text(hour),
        spark=_hour_curve(hour, "delivered"),
    )


def _describe_subscriber(status: SubscriberStatus) -> str:
    state = status.subscriber.state
    if status.state == "disabled":
        return f"{state.disabled_reason} Its events are kept until you resume it."
    if status.state == "paused":
        return "Resume it to send the waiting events."
    if state.failing_since:
        return f"Every delivery has failed since {to_the_minute(state.failing_since)}."
    if state.health < HEALTHY:
        return "Some deliveries failed."
    return ""


def _is_behind(rows: list[SubscriberRow]) -> bool:
    """Whether events wait for one that nothing holds back: then no deliverer runs."""
    return any(
        row.is_late and row.status.state == "ready" and row.status.subscriber.rate is None
        for row in rows
    )


def _rate_text(hour: Hour) -> str:
    """Events a minute, lately."""
    per_minute = hour.per_minute
    if 0 < per_minute < 10:
        return f"{per_minute:.1f} a minute"
    return f"{commas(round(per_minute))} a minute"


def _hour_curve(hour: Hour, done: str) -> Sparkline | None:
    """`done`: what was done with the events. None where there were none."""
    if not hour.events:
        return None
    most = commas(max(hour.minutes))
    label = f"{commas(hour.events)} {done} in the last hour, at most {most} in a minute"
    return by_minute(hour.minutes, label)
