"""The answer in one line: is everything fresh? Told by the tweet that waits the longest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.dashboards.operations.cards import LATE_AFTER, VERY_LATE_AFTER
from trackers.dashboards.words import lasting
from trackers.jobs.figures import QueueSummary


@dataclass(frozen=True, slots=True)
class Headline:
    """`mood` is "good", "warn", "bad", or empty where there is nothing to be fresh."""

    mood: str
    title: str
    said: str


def headline(figures: QueueSummary, *, idle: str = "") -> Headline:
    """`idle`: why nothing is being checked, if so."""
    if not figures.scheduled:
        return Headline("", "Nothing to check", "No tweet has a next check.")
    overdue = figures.oldest_due_seconds
    if idle and overdue < LATE_AFTER:
        return Headline("warn", "Nothing is being checked", f"No tweet is late yet, but {idle}.")
    if overdue < 1:
        return Headline("good", "Everything is fresh", "No tweet is overdue.")
    since = f"The most overdue tweet should have been checked {said(overdue)} ago."
    if overdue < LATE_AFTER:
        return Headline("good", "Everything is fresh", since)
    if overdue < VERY_LATE_AFTER:
        return Headline("warn", f"{said(overdue)} late", since)
    return Headline("bad", f"{said(overdue)} late", since)


def said(seconds: float) -> str:
    return lasting(timedelta(seconds=seconds))
