"""The pages of subscribers: all of them, and one with its batches and its attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_SUBSCRIBERS, needs
from trackers.dashboards.parts import render_parts
from trackers.dashboards.sparkline import Sparkline
from trackers.dashboards.subscribers.rows import hour_curve, is_behind, rate_text, subscriber_row
from trackers.dashboards.words import Moment, ago, ahead, commas
from trackers.events.delivery.attempts import read_attempts
from trackers.events.minutes import Hour, hours_of_subscribers, hours_of_topics
from trackers.events.models import Attempt, EventBatch, Subscriber
from trackers.events.subscribers.standings import staged, standing_of, standings, topics
from trackers.outbox.models import Topic
from trackers.schedule.intervals import current

# How many batches at the head of the line, and how many of the newest attempts.
_MAX_BATCHES, _MAX_ATTEMPTS = 20, 50

_OUTCOME_MOODS = {"delivered": "", "failed": "bad", "lost": "warn", "late": "warn"}
_BATCH_STATES = {"early": "waits", "ready": "due", "pending": "on its way"}


@dataclass(frozen=True, slots=True)
class TopicRow:
    """A topic, and how much is published in it."""

    name: str
    publisher: str
    events: str
    is_wanted: bool
    rate: str
    spark: Sparkline | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt to deliver."""

    id: int
    at: Moment
    uid: str
    number: int
    outcome: str
    mood: str
    status: int | None
    took: str
    events: str
    error: str
    answer: str


@dataclass(frozen=True, slots=True)
class BatchRow:
    uid: str
    state: str
    is_current: bool
    events: str
    attempts: int
    since: Moment
    ready: Moment | None  # when a waiting one becomes ready
    error: str


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
    parts = {"detail": lambda: _subscriber_context(subscriber, outcome, now=now)}
    return render_parts(request, "dashboards/subscribers/detail.html", parts, shared={"now": now})


def _subscribers_context(*, now: datetime) -> dict[str, Any]:
    delivered, published = hours_of_subscribers(), hours_of_topics()
    rows = [
        subscriber_row(item, delivered.get(item.subscriber.pk, Hour()))
        for item in standings(now=now)
    ]
    return {
        "rows": rows,
        "topics": [_topic_row(item, published.get(item.pk, Hour())) for item in topics()],
        "staged": staged(),
        "behind": is_behind(rows),
    }


def _subscriber_context(subscriber: Subscriber, outcome: str, *, now: datetime) -> dict[str, Any]:
    attempts = read_attempts(subscriber, limit=_MAX_ATTEMPTS, outcome=outcome)
    batches = subscriber.batches.order_by("place")[: _MAX_BATCHES + 1]
    row = subscriber_row(
        standing_of(subscriber, now=now),
        hours_of_subscribers(subscriber.pk).get(subscriber.pk, Hour()),
    )
    return {
        "line": row,
        "headers": sorted(subscriber.secrets.get("headers") or ()),
        "subscriber": subscriber,
        "behind": is_behind([row]),
        "batches": [_batch_row(each, now=now) for each in batches[:_MAX_BATCHES]],
        "more_batches": len(batches) > _MAX_BATCHES,
        "attempts": [_attempt_row(each, now=now) for each in attempts],
        "more_attempts": len(attempts) == _MAX_ATTEMPTS,
        "outcome": outcome,
        "outcomes": Attempt.Outcome.values,
    }


def get_subscriber(id: int) -> Subscriber:
    subscribers = Subscriber.objects.filter(removed_at=None).select_related("state")
    return get_object_or_404(subscribers, pk=id)


def _topic_row(topic: Topic, hour: Hour) -> TopicRow:
    return TopicRow(
        name=topic.name,
        publisher=topic.publisher or "none yet",
        events=commas(topic.events),
        is_wanted=topic.wanted,
        rate=rate_text(hour),
        spark=hour_curve(hour, "published"),
    )


def _batch_row(batch: EventBatch, *, now: datetime) -> BatchRow:
    # A due batch becomes ready with a deliverer's next turn.
    waits = batch.state == EventBatch.State.EARLY and batch.deadline > now
    return BatchRow(
        uid=str(batch.uid),
        state=_BATCH_STATES[batch.state],
        is_current=batch.is_current,
        events=commas(len(batch.events)),
        attempts=batch.attempts,
        since=ago(batch.first_at, now=now),
        ready=ahead(batch.deadline, now=now) if waits else None,
        error=batch.last_error,
    )


def _attempt_row(attempt: Attempt, *, now: datetime) -> AttemptRow:
    return AttemptRow(
        id=attempt.id,
        at=ago(attempt.at, now=now),
        uid=str(attempt.uid),
        number=attempt.number,
        outcome=attempt.outcome,
        mood=_OUTCOME_MOODS[attempt.outcome],
        status=attempt.status,
        took="–" if attempt.took_ms is None else f"{commas(attempt.took_ms)} ms",
        events=commas(len(attempt.events)),
        error=attempt.error,
        answer=attempt.answer,
    )
