"""The pages of subscribers: all of them, and one with its batches and its attempts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from trackers.dashboards.access import SUBSCRIBERS, needs
from trackers.dashboards.parts import show
from trackers.dashboards.sparkline import Sparkline
from trackers.dashboards.subscribers.line import curve, is_behind, line, rate
from trackers.dashboards.words import Moment, ago, ahead, counted
from trackers.events.delivery.attempts import read_attempts
from trackers.events.minutes import Hour, hours_of_subscribers, hours_of_topics
from trackers.events.models import Attempt, EventBatch, Subscriber
from trackers.events.subscribers.standings import staged, standing_of, standings, topics
from trackers.outbox.models import Topic
from trackers.schedule.intervals import current

# How many batches at the head of the line, and how many of the newest attempts.
BATCHES, ATTEMPTS = 20, 50

MOODS = {"delivered": "", "failed": "bad", "lost": "warn", "late": "warn"}
STATES = {"early": "waits", "ready": "due", "pending": "on its way"}


@dataclass(frozen=True, slots=True)
class Told:
    """A topic, and how much is published in it."""

    name: str
    publisher: str
    events: str
    is_wanted: bool
    rate: str
    spark: Sparkline | None


@dataclass(frozen=True, slots=True)
class Tried:
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
class Batch:
    """`ready`: when a waiting one becomes ready."""

    uid: str
    state: str
    is_current: bool
    events: str
    attempts: int
    since: Moment
    ready: Moment | None
    error: str


@require_safe
@needs(SUBSCRIBERS)
def subscribers(request: HttpRequest) -> HttpResponse:
    now, _ = current()
    parts = {"list": lambda: listed(now=now)}
    return show(request, "dashboards/subscribers/list.html", parts, shared={"now": now})


@require_safe
@needs(SUBSCRIBERS)
def subscriber(request: HttpRequest, id: int) -> HttpResponse:
    found = find(id)
    outcome = request.GET.get("outcome", "")
    if outcome not in ("", *Attempt.Outcome.values):
        raise Http404(f"{outcome[:80]!r} is not an outcome of an attempt.")
    now, _ = current()
    parts = {"detail": lambda: detail(found, outcome, now=now)}
    return show(request, "dashboards/subscribers/detail.html", parts, shared={"now": now})


def listed(*, now: datetime) -> dict[str, Any]:
    delivered, published = hours_of_subscribers(), hours_of_topics()
    rows = [line(one, delivered.get(one.subscriber.pk, Hour())) for one in standings(now=now)]
    return {
        "rows": rows,
        "topics": [told(one, published.get(one.pk, Hour())) for one in topics()],
        "staged": staged(),
        "behind": is_behind(rows),
    }


def detail(one: Subscriber, outcome: str, *, now: datetime) -> dict[str, Any]:
    found = read_attempts(one, limit=ATTEMPTS, outcome=outcome)
    batches = one.batches.order_by("place")[: BATCHES + 1]
    row = line(standing_of(one, now=now), hours_of_subscribers(one.pk).get(one.pk, Hour()))
    return {
        "line": row,
        "headers": sorted(one.secrets.get("headers") or ()),
        "subscriber": one,
        "behind": is_behind([row]),
        "batches": [batch(each, now=now) for each in batches[:BATCHES]],
        "more_batches": len(batches) > BATCHES,
        "attempts": [tried(each, now=now) for each in found],
        "more_attempts": len(found) == ATTEMPTS,
        "outcome": outcome,
        "outcomes": Attempt.Outcome.values,
    }


def find(id: int) -> Subscriber:
    found = Subscriber.objects.filter(removed_at=None).select_related("state")
    return get_object_or_404(found, pk=id)


def told(one: Topic, hour: Hour) -> Told:
    return Told(
        name=one.name,
        publisher=one.publisher or "none yet",
        events=counted(one.events),
        is_wanted=one.wanted,
        rate=rate(hour),
        spark=curve(hour, "published"),
    )


def batch(one: EventBatch, *, now: datetime) -> Batch:
    # A due batch becomes ready with a deliverer's next turn.
    waits = one.state == EventBatch.State.EARLY and one.deadline > now
    return Batch(
        uid=str(one.uid),
        state=STATES[one.state],
        is_current=one.is_current,
        events=counted(len(one.events)),
        attempts=one.attempts,
        since=ago(one.first_at, now=now),
        ready=ahead(one.deadline, now=now) if waits else None,
        error=one.last_error,
    )


def tried(one: Attempt, *, now: datetime) -> Tried:
    return Tried(
        id=one.id,
        at=ago(one.at, now=now),
        uid=str(one.uid),
        number=one.number,
        outcome=one.outcome,
        mood=MOODS[one.outcome],
        status=one.status,
        took="–" if one.took_ms is None else f"{counted(one.took_ms)} ms",
        events=counted(len(one.events)),
        error=one.error,
        answer=one.answer,
    )
