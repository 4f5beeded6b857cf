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
from trackers.dashboards.charts import Sparkline, by_minute
from trackers.dashboards.parts import render_parts
from trackers.dashboards.words import Moment, ago, ahead, commas
from trackers.events.delivery.attempts import read_attempts
from trackers.events.minutes import Hour, hours_of_subscribers, hours_of_topics
from trackers.events.models import HEALTHY, Attempt, EventBatch, Subscriber
from trackers.events.subscribers.standings import Standing, staged, standing_of, standings, topics
from trackers.outbox.models import Topic
from trackers.schedule.intervals import current

# How many batches at the head of the line, and how many of the newest attempts.
_MAX_BATCHES, _MAX_ATTEMPTS = 20, 50

_OUTCOME_MOODS = {"delivered": "", "failed": "bad", "lost": "warn", "late": "warn"}
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
        _subscriber_row(item, delivered.get(item.subscriber.pk, Hour()))
        for item in standings(now=now)
    ]
    return {
        "rows": rows,
        "topics": [_topic_row(item, published.get(item.pk, Hour())) for item in topics()],
        "staged": staged(),
        "behind": _is_behind(rows),
    }


def _subscriber_context(subscriber: Subscriber, outcome: str, *, now: datetime) -> dict[str, Any]:
    attempts = read_attempts(subscriber, limit=_MAX_ATTEMPTS, outcome=outcome)
    batches = subscriber.batches.order_by("place")[: _MAX_BATCHES + 1]
    row = _subscriber_row(
        standing_of(subscriber, now=now),
        hours_of_subscribers(subscriber.pk).get(subscriber.pk, Hour()),
    )
    return {
        "line": row,
        "headers": sorted(subscriber.secrets.get("headers") or ()),
        "subscriber": subscriber,
        "behind": _is_behind([row]),
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
        rate=_rate_text(hour),
        spark=_hour_curve(hour, "published"),
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


@dataclass(frozen=True, slots=True)
class SubscriberRow:
    id: int
    name: str
    host: str
    topics: str
    state: str
    badge: str
    mood: str
    note: str  # what a person should know
    added: str
    delivered: str
    dropped: str
    queued: str
    batches: str
    health: int
    oldest: Moment | None
    attempted: Moment | None
    next: Moment | None  # when it is tried again after failures
    is_late: bool
    is_paced: bool
    rate: str
    spark: Sparkline | None


def _subscriber_row(status: Standing, hour: Hour) -> SubscriberRow:
    """`hour`: what was delivered to it."""
    subscriber, state, books = status.subscriber, status.subscriber.state, status.books
    is_failing = status.state == "ready" and state.failing_since is not None
    badge, mood = _BADGES["waiting" if is_failing else status.state]
    waited = status.oldest_seconds
    return SubscriberRow(
        id=subscriber.pk,
        name=subscriber.name,
        # A callback may carry a secret in its path.
        host=urlsplit(subscriber.callback).netloc,
        topics=", ".join(status.topics) or "no topic",
        state=status.state,
        badge=badge,
        mood=mood,
        note=_describe_subscriber(status),
        added=commas(books.added),
        delivered=commas(books.delivered),
        dropped=commas(books.dropped),
        queued=commas(books.queued),
        batches=commas(books.batches),
        health=state.health,
        oldest=ago(books.oldest, now=status.now) if books.oldest else None,
        attempted=ago(state.attempted_at, now=status.now) if state.attempted_at else None,
        next=ahead(status.next_at, now=status.now)
        if status.next_at and status.state == "waiting"
        else None,
        is_late=waited is not None and waited > _WAITS_TOO_LONG.total_seconds(),
        is_paced=subscriber.rate is not None,
        rate=_rate_text(hour),
        spark=_hour_curve(hour, "delivered"),
    )


def _describe_subscriber(status: Standing) -> str:
    state = status.subscriber.state
    if status.state == "disabled":
        return f"{state.disabled_because} Its events are kept until you resume it."
    if status.state == "paused":
        return "Resume it to send the waiting events."
    if state.failing_since:
        return f"Every delivery has failed since {state.failing_since:%Y-%m-%d %H:%M} UTC."
    if state.health < HEALTHY:
        return "Some deliveries failed."
    return ""


def _is_behind(rows: list[SubscriberRow]) -> bool:
    """Whether events wait for one that nothing holds back: then no deliverer runs."""
    return any(row.state == "ready" and row.is_late and not row.is_paced for row in rows)


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
