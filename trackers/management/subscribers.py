"""Subscribers as commands create, find and show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from trackers.events.models import EventBatch, Subscriber
from trackers.events.subscribers.headers import named_twice
from trackers.events.subscribers.terms import Terms, named_terms


def terms_of(options: Mapping[str, Any]) -> Terms:
    """The terms given as options; those left out stay as they are, or get their defaults."""
    removed: dict[str, str | None] = dict.fromkeys(options["without_headers"] or ())
    own = options["headers"] or []
    if twice := named_twice([*removed, *(name for name, _ in own)]):
        raise ValidationError({"headers": f"The header {twice} is given twice."})
    named = {name: value for name, value in options.items() if value is not None}
    return named_terms({**named, "headers": {**removed, **dict(own)}})


def find_subscriber(name: str) -> Subscriber:
    try:
        return Subscriber.objects.get(name=name, removed_at=None)
    except Subscriber.DoesNotExist:
        raise CommandError(f"There is no subscriber called {name}.") from None


def describe_subscriber(subscriber: Mapping[str, Any]) -> str:
    reason = f" ({subscriber['reason']})" if subscriber["reason"] else ""
    return (
        f"{subscriber['name']}  {subscriber['state']}{reason}  {subscriber['callback']}"
        f"  {','.join(subscriber['topics'])}  {subscriber['delivered']} delivered"
        f", {subscriber['queued']} queued, {subscriber['dropped']} dropped"
    )


def describe_attempt(attempt: Mapping[str, Any]) -> str:
    words = [
        attempt["at"],
        attempt["batch"],
        _name_of_kind(attempt["kind"]),
        f"attempt {attempt['number']}",
        attempt["outcome"],
        f"{attempt['events']} events",
        "" if attempt["status"] is None else str(attempt["status"]),
        "" if attempt["took_ms"] is None else f"{attempt['took_ms']} ms",
        attempt["error"],
    ]
    return "  ".join(word for word in words if word)


def describe_batch(batch: Mapping[str, Any]) -> str:
    words = [
        batch["batch"],
        _name_of_kind(batch["kind"]),
        batch["state"],
        f"{batch['events']} events",
        f"{batch['attempts']} attempts",
        batch["error"],
        batch["response"],
    ]
    return "  ".join(word for word in words if word)


def _name_of_kind(kind: str) -> str:
    """Nothing for a batch like all others."""
    return "" if kind == EventBatch.Kind.EVENTS else kind
