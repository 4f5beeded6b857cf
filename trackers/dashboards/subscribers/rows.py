"""A subscriber as a row: how it stands, what waits for it, and why; and its last hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from trackers.dashboards.sparkline import Sparkline, by_minute
from trackers.dashboards.words import Moment, ago, ahead, commas
from trackers.events.minutes import Hour
from trackers.events.models import HEALTHY
from trackers.events.subscribers.standings import Standing

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


def subscriber_row(status: Standing, hour: Hour) -> SubscriberRow:
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
        rate=rate_text(hour),
        spark=hour_curve(hour, "delivered"),
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


def is_behind(rows: list[SubscriberRow]) -> bool:
    """Whether events wait for one that nothing holds back: then no deliverer runs."""
    return any(row.state == "ready" and row.is_late and not row.is_paced for row in rows)


def rate_text(hour: Hour) -> str:
    """Events a minute, lately."""
    per_minute = hour.per_minute
    if 0 < per_minute < 10:
        return f"{per_minute:.1f} a minute"
    return f"{commas(round(per_minute))} a minute"


def hour_curve(hour: Hour, done: str) -> Sparkline | None:
    """`done`: what was done with the events. None where there were none."""
    if not hour.events:
        return None
    most = commas(max(hour.minutes))
    label = f"{commas(hour.events)} {done} in the last hour, at most {most} in a minute"
    return by_minute(hour.minutes, label)
