"""Subscribers and attempts for programs: as the command and the API show them."""

from __future__ import annotations

from typing import Any

from trackers.events.delivery.models import Attempt
from trackers.events.subscribers.status import SubscriberStatus
from tweetwatch.clock_times import iso


def subscriber_json(status: SubscriberStatus) -> dict[str, Any]:
    """Without secrets."""
    subscriber, books = status.subscriber, status.books
    return {
        "name": subscriber.name,
        "callback": subscriber.callback,
        "topics": status.topics,
        "max_events": subscriber.max_events,
        "timeout_ms": subscriber.timeout_ms,
        "ordered": subscriber.ordered,
        "concurrency": subscriber.concurrency,
        "rate": subscriber.rate,
        "format": subscriber.format,
        "with_data": subscriber.with_data,
        "each_change": not subscriber.newest_only,
        "authors": [str(id) for id in subscriber.authors],
        "sources": [str(id) for id in subscriber.sources],
        "at_least": f"{subscriber.metric}={subscriber.at_least}" if subscriber.metric else None,
        "headers": sorted(subscriber.secrets.get("headers") or ()),
        "state": status.state,
        "reason": subscriber.state.disabled_reason,
        "next_at": iso(status.next_at),
        "health": subscriber.state.health,
        "added": books.added,
        "delivered": books.delivered,
        "dropped": books.dropped,
        "queued": books.queued,
        "batches": books.batches,
        "oldest": iso(books.oldest),
    }


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    return {
        "at": iso(attempt.at, to="milliseconds"),
        "batch": str(attempt.uid),
        "kind": attempt.kind,
        "number": attempt.number,
        "outcome": attempt.outcome,
        "events": len(attempt.events),
        "status": attempt.status,
        "took_ms": attempt.took_ms,
        "error": attempt.error,
        "response": attempt.answer,
    }
