"""The queue of tweets in a few figures. Each card says what it means and leads to more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from trackers.dashboards.access import VIEW_OPERATIONS
from trackers.dashboards.operations.cards import lateness_mood
from trackers.dashboards.words import commas
from trackers.jobs.statistics import MinuteCounters, QueueSummary


@dataclass(frozen=True, slots=True)
class Card:
    id: str
    label: str
    value: str
    exact: str  # the number unrounded
    means: str
    link: str
    needs: str  # the permission for the link
    mood: str = ""  # "", "warn" or "bad"


def cards(
    figures: QueueSummary,
    minutes: Sequence[MinuteCounters],
    late: Sequence[float | None],
    *,
    because: str,
) -> tuple[Card, ...]:
    """`late`: how late half of the checks are at the most, and 95 of 100. `because`: why checks
    failed last."""
    operations = reverse("operations")
    failed, asked = sum(one.failed for one in minutes), sum(one.asked for one in minutes)
    p50, p95 = late
    return (
        Card(
            "due", "Due now", commas(figures.due), str(figures.due),
            f"of {commas(figures.scheduled)} tweets that have a next check. "
            f"{_being_checked(figures.in_flight)}",
            f"{reverse('tweets')}?state=fresh", "",
        ),
        Card(
            "checked", "Checked a minute", commas(figures.checked_last_minute),
            str(figures.checked_last_minute), "in the last 60 seconds.",
            operations, VIEW_OPERATIONS,
        ),
        Card(
            "late", "Lateness", _lateness_words(p50, p95), _exact_lateness(p50, p95),
            "Half of the last five minutes' checks were at most the first figure late, 95% at most "
            "the second (p50, p95).",
            operations, VIEW_OPERATIONS, lateness_mood(p95),
        ),
        Card(
            "failed", "Failed this hour", commas(failed), str(failed),
            _describe_failures(failed, asked, because), operations, VIEW_OPERATIONS,
            "warn" if failed else "",
        ),
        *_isolated_cards(figures.isolated),
    )  # fmt: skip


def _isolated_cards(number: int) -> tuple[Card, ...]:
    """None while there is nothing to do."""
    if not number:
        return ()
    return (
        Card(
            "isolated", "Isolated", commas(number), str(number),
            "set aside after four checks that never finished.",
            f"{reverse('tweets')}?state=isolated", "", "warn",
        ),
    )  # fmt: skip


def _being_checked(number: int) -> str:
    if not number:
        return "None is being checked."
    return f"{commas(number)} {'is' if number == 1 else 'are'} being checked."


def _exact_lateness(p50: float | None, p95: float | None) -> str:
    return "not known" if p50 is None else f"{p50} s, {p95} s"


def _lateness_words(p50: float | None, p95: float | None) -> str:
    return "–" if p50 is None or p95 is None else f"{p50:g} / {p95:g} s"


def _describe_failures(failed: int, asked: int, because: str) -> str:
    if not failed:
        return f"of {commas(asked)} checks. Nothing failed."
    return f"of {commas(asked + failed)} checks; they are tried again. {because}".strip()
