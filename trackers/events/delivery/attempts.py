"""The log of delivery attempts and their outcomes, kept for some days."""

from __future__ import annotations

from trackers.events.models import Attempt, Subscriber


def read_attempts(
    subscriber: Subscriber, *, limit: int, outcome: str = "", before: int | None = None
) -> list[Attempt]:
    """The newest attempts, newest first; `before`: only those older than the one with this id."""
    attempts = Attempt.objects.filter(subscriber_id=subscriber.pk)
    if outcome:
        attempts = attempts.filter(outcome=outcome)
    if before is not None:
        attempts = attempts.filter(id__lt=before)
    return list(attempts.order_by("-id")[:limit])
