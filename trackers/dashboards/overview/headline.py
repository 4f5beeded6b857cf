"""The answer in one line: is everything fresh? Told by the tweet that waits the longest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trackers.dashboards.operations.cards import LATE_AFTER, VERY_LATE_AFTER
from trackers.dashboards.words import commas, lasting
from trackers.jobs.statistics import QueueSummary


@dataclass(frozen=True, slots=True)
class Headline:
    mood: str  # "good", "warn", "bad", or empty where there is nothing to be fresh
    title: str
    sentence: str


def headline(figures: QueueSummary, *, idle: str = "", waiting: int = 0) -> Headline:
    """`idle`: why nothing is being checked, if so. `waiting`: about how many tweets wait for the
    next UTC day's money."""
    if not figures.scheduled:
        return Headline("", "Nothing to check", "No tweet has a next check.")
    overdue = figures.oldest_due_seconds
    if idle and overdue < LATE_AFTER:
        return Headline("warn", "Nothing is being checked", f"No tweet is late yet, but {idle}.")
    if waiting and overdue < LATE_AFTER:
        wait = "tweet waits" if waiting == 1 else "tweets wait"
        title = f"About {commas(waiting)} {wait} for tomorrow's budget"
        return Headline("warn", title, "No other tweet is late. A new day begins at 00:00 UTC.")
    if overdue < 1:
        return Headline("good", "Everything is fresh", "No tweet is overdue.")
    since = f"The most overdue tweet should have been checked {_lateness_text(overdue)} ago."
    if overdue < LATE_AFTER:
        return Headline("good", "Everything is fresh", since)
    if overdue < VERY_LATE_AFTER:
        return Headline("warn", f"{_lateness_text(overdue)} late", since)
    return Headline("bad", f"{_lateness_text(overdue)} late", since)


def _lateness_text(seconds: float) -> str:
    return lasting(timedelta(seconds=seconds))
