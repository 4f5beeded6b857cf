"""The state of all subscribers and topics: for the command, `status`, `/metrics` and pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import transaction

from trackers.events.books import Books, read_books
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscriber
from trackers.outbox.models import Topic
from tweetwatch.database import cursor

State = Literal["ready", "waiting", "paused", "disabled"]

# The count stops here: the spread is then far behind.
_MOST_COUNTED = 1000
_STAGED = "SELECT count(*) FROM (SELECT FROM trackers_staged LIMIT %(most)s) first"


@dataclass(frozen=True, slots=True)
class SubscriberStatus:
    """A subscriber, its topics by name, and its books."""

    subscriber: Subscriber
    topics: list[str]
    books: Books
    now: datetime  # the time of the reading

    @property
    def state(self) -> State:
        """Waiting means that nothing is sent before `next_at`, since deliveries failed."""
        if self.subscriber.paused_at:
            return "paused"
        if self.subscriber.state.disabled_at:
            return "disabled"
        return "waiting" if self.next_at else "ready"

    @property
    def next_at(self) -> datetime | None:
        """When deliveries continue after failures; None: nothing holds them back."""
        until = self.subscriber.state.not_before
        return until if until and until > self.now else None

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest undelivered event has waited."""
        oldest = self.books.oldest
        return (self.now - oldest).total_seconds() if oldest else None


def current_statuses(*, now: datetime) -> list[SubscriberStatus]:
    """As `subscriber_statuses`, with every event so far counted."""
    with transaction.atomic():
        fan_out_all()
        return subscriber_statuses(now=now)


def subscriber_statuses(*, now: datetime) -> list[SubscriberStatus]:
    """All subscribers by name, in a fixed number of statements."""
    books = {one.id: one for one in read_books()}
    subscribers = Subscriber.objects.filter(removed_at=None).select_related("state")
    return [
        SubscriberStatus(one, _topics_of(one), books[one.pk], now)
        for one in subscribers.prefetch_related("subscriptions__topic")
        # One that was added meanwhile is not in `books` yet.
        if one.pk in books
    ]


def status_of(subscriber: Subscriber, *, now: datetime) -> SubscriberStatus:
    [books] = read_books(subscriber.pk)
    return SubscriberStatus(subscriber, _topics_of(subscriber), books, now)


def _topics_of(subscriber: Subscriber) -> list[str]:
    return sorted(each.topic.name for each in subscriber.subscriptions.all())


def topics() -> list[Topic]:
    """The topics that have a publisher or a subscriber."""
    return list(Topic.objects.exclude(publisher="", wanted=False))


def staged() -> int:
    """How many transactions' events are not spread yet, up to MOST_COUNTED."""
    with cursor() as db:
        row = db.execute(_STAGED, {"most": _MOST_COUNTED}).fetchone()
    return int(row[0]) if row else 0
