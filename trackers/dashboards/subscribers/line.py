"""A subscriber as a row: how it stands, what waits for it, and why; and its last hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from trackers.dashboards.sparkline import Sparkline, by_minute
from trackers.dashboards.words import Moment, ago, ahead, counted
from trackers.events.minutes import Hour
from trackers.events.models import HEALTHY
from trackers.events.subscribers.standings import Standing

# If something waits longer than this for no reason, a person should look.
LATE_AFTER = timedelta(minutes=5)

BADGES = {
    "ready": ("active", ""),
    "waiting": ("failing", "warn"),
    "paused": ("paused", "soft"),
    "disabled": ("disabled", "bad"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """`said`: what a person should know; `next`: when it is tried again after failures."""

    id: int
    name: str
    host: str
    topics: str
    state: str
    badge: str
    mood: str
    said: str
    added: str
    delivered: str
    dropped: str
    queued: str
    batches: str
    health: int
    oldest: Moment | None
    attempted: Moment | None
    next: Moment | None
    is_late: bool
    is_paced: bool
    rate: str
    spark: Sparkline | None


def line(one: Standing, hour: Hour) -> Line:
    """`hour`: what was delivered to it."""
    subscriber, state, books = one.subscriber, one.subscriber.state, one.books
    is_failing = one.state == "ready" and state.failing_since is not None
    badge, mood = BADGES["waiting" if is_failing else one.state]
    waited = one.oldest_seconds
    return Line(
        id=subscriber.pk,
        name=subscriber.name,
        # A callback may carry a secret in its path.
        host=urlsplit(subscriber.callback).netloc,
        topics=", ".join(one.topics) or "no topic",
        state=one.state,
        badge=badge,
        mood=mood,
        said=said_of(one),
        added=counted(books.added),
        delivered=counted(books.delivered),
        dropped=counted(books.dropped),
        queued=counted(books.queued),
        batches=counted(books.batches),
        health=state.health,
        oldest=ago(books.oldest, now=one.now) if books.oldest else None,
        attempted=ago(state.attempted_at, now=one.now) if state.attempted_at else None,
        next=ahead(one.next_at, now=one.now) if one.next_at and one.state == "waiting" else None,
        is_late=waited is not None and waited > LATE_AFTER.total_seconds(),
        is_paced=subscriber.rate is not None,
        rate=rate(hour),
        spark=curve(hour, "delivered"),
    )


def said_of(one: Standing) -> str:
    state = one.subscriber.state
    if one.state == "disabled":
        return f"{state.disabled_because} Its events are kept until you resume it."
    if one.state == "paused":
        return "Resume it to send the waiting events."
    if state.failing_since:
        return f"Every delivery has failed since {state.failing_since:%Y-%m-%d %H:%M} UTC."
    if state.health < HEALTHY:
        return "Some deliveries failed."
    return ""


def is_behind(lines: list[Line]) -> bool:
    """Whether events wait for one that nothing holds back: then no deliverer runs."""
    return any(one.state == "ready" and one.is_late and not one.is_paced for one in lines)


def rate(hour: Hour) -> str:
    """Events a minute, lately."""
    per_minute = hour.per_minute
    if 0 < per_minute < 10:
        return f"{per_minute:.1f} a minute"
    return f"{counted(round(per_minute))} a minute"


def curve(hour: Hour, done: str) -> Sparkline | None:
    """`done`: what was done with the events. None where there were none."""
    if not hour.events:
        return None
    most = counted(max(hour.minutes))
    label = f"{counted(hour.events)} {done} in the last hour, at most {most} in a minute"
    return by_minute(hour.minutes, label)
