"""The queue's figures as cards: a label, a rounded value, and the exact figure behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.words import Moment, ago, commas
from trackers.jobs.horizon import Horizon
from trackers.jobs.statistics import QueueSummary

# The oldest due tweet should wait little longer than the buffer's time; beyond this, investigate.
LATE_AFTER = 30.0
VERY_LATE_AFTER = 300.0
# A full count older than this is shown with its age.
_OLD_AFTER = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Card:
    label: str
    value: str
    exact: str  # the number unrounded
    help: str  # explains it
    mood: str = ""  # "", "warn" or "bad"


@dataclass(frozen=True, slots=True)
class CountAge:
    """For a long queue: when it was counted, if long ago; or that it never was."""

    at: Moment | None = None
    is_missing: bool = False


def count_age(figures: QueueSummary, *, now: datetime) -> CountAge:
    at = figures.counted_at
    if at is None:
        return CountAge(is_missing=figures.is_cut_off)
    return CountAge(ago(at, now=now) if now - at > _OLD_AFTER else None)


def cards(figures: QueueSummary) -> tuple[Card, ...]:
    return (
        _whole_card("Scheduled", figures.scheduled, "Tweets that have a next check."),
        _whole_card("Due", figures.due, "Tweets whose check is due now."),
        _seconds_card(
            "Oldest due",
            figures.oldest_due_seconds,
            "How long ago the most overdue tweet should have been checked.",
            mood=lateness_mood(figures.oldest_due_seconds),
        ),
        _whole_card("In flight", figures.in_flight, "Tweets that a worker is asking X about."),
        _whole_card("Checked / min", figures.checked_last_minute, "In the last 60 seconds."),
        _seconds_card(
            "Lateness p50", figures.lateness_p50_seconds, "Half of the last five minutes' checks "
            "were no later than this.",
        ),
        _seconds_card(
            "Lateness p99", figures.lateness_p99_seconds, "99 of 100 checks of the last five "
            "minutes were no later than this.", mood=lateness_mood(figures.lateness_p99_seconds),
        ),
        _fill_card(figures.batch_fill),
        _whole_card(
            "Isolated", figures.isolated, "Tweets set aside after four checks that never finished.",
            mood="warn" if figures.isolated else "",
        ),
    )  # fmt: skip


def snapshot_card(horizon: Horizon) -> Card:
    """A transaction that stays open for long keeps the queue from being vacuumed."""
    seconds, who = horizon.seconds, f" ({horizon.who}, pid {horizon.pid})" if horizon.pid else ""
    mood = "bad" if seconds > VERY_LATE_AFTER else "warn" if seconds > LATE_AFTER else ""
    return Card(
        "Oldest snapshot",
        f"{seconds:,.1f} s",
        f"{seconds} s{who}",
        "How long the oldest transaction has been open. Rows that have died since then "
        "cannot be removed from the queue, so claims get slower.",
        mood,
    )


def lateness_mood(seconds: float | None) -> str:
    if seconds is None or seconds < LATE_AFTER:
        return ""
    return "warn" if seconds < VERY_LATE_AFTER else "bad"


def _whole_card(label: str, number: int, help: str, mood: str = "") -> Card:
    return Card(label, commas(number), str(number), help, mood)


def _seconds_card(label: str, number: float | None, help: str, mood: str = "") -> Card:
    if number is None:
        return Card(label, "–", "not known", help, mood)
    return Card(label, f"{number:,.1f} s", f"{number} s", help, mood)


def _fill_card(ids: float | None) -> Card:
    help = "How many tweets a request asks for, on average over the last five minutes; X takes 100."
    if ids is None:
        return Card("Ids per request", "–", "not known", help)
    return Card("Ids per request", f"{ids:,.1f}", f"{ids} ids a request", help)
