"""Subscribers as commands make, find and show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from trackers.bus.fields import UUID, is_name
from trackers.events.addresses import MOST_CALLBACK, fault_of
from trackers.events.models import Attempt, Subscriber
from trackers.events.standings import Standing


def new_subscriber(options: Mapping[str, Any], key: str) -> Subscriber:
    callback = options["callback"]
    if not is_name(options["name"]):
        raise ValidationError("A name has 1 to 64 of the characters a to z, 0 to 9, : _ and -.")
    plain_http = settings.EGRESS_PLAIN_HTTP
    if fault := fault_of(callback, most=MOST_CALLBACK, plain_http=plain_http):
        raise ValidationError(f"The callback {fault}.")
    if options["uuid"] and not UUID.fullmatch(options["uuid"]):
        raise ValidationError("A uuid has up to 200 printable ASCII characters without a colon.")
    metric, at_least = options["at_least"] or ("", None)
    subscriber = Subscriber(
        name=options["name"],
        callback=callback,
        secrets={"signing": [key], **({"uuid": uuid} if (uuid := options["uuid"]) else {})},
        max_events=options["max"],
        timeout_ms=options["timeout"],
        ordered=options["ordered"],
        concurrency=options["concurrency"],
        format=options["format"],
        with_data=options["with_data"],
        newest_only=not options["each_change"],
        authors=options["authors"] or [],
        sources=options["sources"] or [],
        metric=metric,
        at_least=at_least,
    )
    subscriber.full_clean()
    return subscriber


def find(name: str) -> Subscriber:
    try:
        return Subscriber.objects.get(name=name, removed_at=None)
    except Subscriber.DoesNotExist:
        raise CommandError(f"There is no subscriber called {name}.") from None


def described(one: Standing) -> dict[str, Any]:
    subscriber, books = one.subscriber, one.books
    return {
        "name": subscriber.name,
        "callback": subscriber.callback,
        "topics": one.topics,
        "max_events": subscriber.max_events,
        "timeout_ms": subscriber.timeout_ms,
        "ordered": subscriber.ordered,
        "concurrency": subscriber.concurrency,
        "format": subscriber.format,
        "with_data": subscriber.with_data,
        "each_change": not subscriber.newest_only,
        "authors": [str(id) for id in subscriber.authors],
        "sources": [str(id) for id in subscriber.sources],
        "at_least": f"{subscriber.metric}={subscriber.at_least}" if subscriber.metric else None,
        "state": one.state,
        "because": subscriber.state.disabled_because,
        "next_at": one.next_at.isoformat() if one.next_at else None,
        "health": subscriber.state.health,
        "added": books.added,
        "delivered": books.delivered,
        "dropped": books.dropped,
        "queued": books.queued,
        "batches": books.batches,
        "oldest": books.oldest.isoformat() if books.oldest else None,
    }


def line_of(told: Mapping[str, Any]) -> str:
    because = f" ({told['because']})" if told["because"] else ""
    return (
        f"{told['name']}  {told['state']}{because}  {told['callback']}  {','.join(told['topics'])}"
        f"  {told['delivered']} delivered, {told['queued']} queued, {told['dropped']} dropped"
    )


def shown(attempt: Attempt) -> dict[str, Any]:
    return {
        "at": attempt.at.isoformat(timespec="milliseconds"),
        "batch": str(attempt.uid),
        "number": attempt.number,
        "outcome": attempt.outcome,
        "events": len(attempt.events),
        "status": attempt.status,
        "took_ms": attempt.took_ms,
        "error": attempt.error,
        "answer": attempt.answer,
    }


def line_of_attempt(told: Mapping[str, Any]) -> str:
    words = [
        told["at"],
        told["batch"],
        f"attempt {told['number']}",
        told["outcome"],
        f"{told['events']} events",
        "" if told["status"] is None else str(told["status"]),
        "" if told["took_ms"] is None else f"{told['took_ms']} ms",
        told["error"],
    ]
    return "  ".join(word for word in words if word)
