"""The queue of tweets in a few figures, and what is left of each credential's rate limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from trackers.credentials.models import Credential
from trackers.dashboards.access import VIEW_OPERATIONS
from trackers.dashboards.figures import (
    Figure,
    HourFigures,
    SummaryFigures,
    hour_figures,
    summary_figures,
)
from trackers.dashboards.words import Moment, ahead
from trackers.jobs.statistics import MinuteCounters, QueueSummary
from tweetwatch.amounts import amount

_MAX_GAUGES = 8


@dataclass(frozen=True, slots=True)
class Card:
    id: str
    label: str
    figures: tuple[Figure, ...]
    means: str
    link: str
    needs: str  # the permission for the link

    @property
    def mood(self) -> str:
        return self.figures[-1].mood

    @property
    def html(self) -> SafeString:
        return format_html_join(" / ", "{}", ((figure.html,) for figure in self.figures))


def cards(
    queue: QueueSummary,
    minutes: Sequence[MinuteCounters],
    *,
    because: str,
) -> tuple[Card, ...]:
    """`because`: why checks failed last."""
    figures, hour = summary_figures(queue), hour_figures(minutes)
    operations = reverse("operations")
    return (
        Card(
            "due", figures.due.label, (figures.due,),
            f"of {figures.scheduled.words} tweets that have a next check. "
            f"{_being_checked(queue.in_flight)}",
            f"{reverse('tweets')}?state=fresh", "",
        ),
        Card(
            "checked", figures.checked.label, (figures.checked,), "in the last 60 seconds.",
            operations, VIEW_OPERATIONS,
        ),
        Card(
            "late", "Lateness", (figures.lateness_half, figures.lateness_almost_all),
            "of half of the last five minutes' checks, at the most; and of 99 in 100.",
            operations, VIEW_OPERATIONS,
        ),
        Card(
            "failed", hour.failed.label, (hour.failed,),
            _describe_failures(hour, because), operations, VIEW_OPERATIONS,
        ),
        *_isolated_cards(figures),
    )  # fmt: skip


def _isolated_cards(figures: SummaryFigures) -> tuple[Card, ...]:
    """None while there is nothing to do."""
    if not figures.isolated.mood:
        return ()
    return (
        Card(
            "isolated", figures.isolated.label, (figures.isolated,),
            "set aside after four checks that never finished.",
            f"{reverse('tweets')}?state=isolated", "",
        ),
    )  # fmt: skip


def _being_checked(number: int) -> str:
    if not number:
        return "None is being checked."
    return f"{amount(number, 'is', 'are')} being checked."


def _describe_failures(hour: HourFigures, because: str) -> str:
    if hour.failed.exact == "0":
        return format_html("Nothing failed. Checks that brought figures: {}.", hour.checks.html)
    return format_html(
        "They are tried again. {} Checks that brought figures: {}.", because, hour.checks.html
    )


@dataclass(frozen=True, slots=True)
class CredentialGauge:
    """Of the scarcest window that runs now."""

    id: int
    name: str
    state: str
    reason: str
    endpoint: str = ""
    limit: int = 0  # 0 without a window
    remaining: int = 0
    resets: Moment | None = None

    @property
    def left(self) -> float:
        return self.remaining / self.limit if self.limit else 1.0


def credential_gauges(
    credentials: Iterable[Credential], *, now: datetime, shown_above: Iterable[str]
) -> tuple[list[CredentialGauge], int]:
    """The first few, and how many more there are. A reason that was `said` above is left out."""
    above = " ".join(shown_above)
    gauges = [_credential_gauge(one, above, now=now) for one in credentials]
    gauges.sort(key=lambda one: (one.state == "ready", one.left, one.name))
    return gauges[:_MAX_GAUGES], max(0, len(gauges) - _MAX_GAUGES)


def _credential_gauge(credential: Credential, above: str, *, now: datetime) -> CredentialGauge:
    reason = "" if credential.reason in above else credential.reason
    who = (credential.pk, credential.name, credential.state, reason)
    running = [
        window_seen
        for window_seen in credential.reported_windows()
        if window_seen.resets_at > now and window_seen.limit
    ]
    if not running:
        return CredentialGauge(*who)
    window = min(running, key=lambda one: one.remaining / one.limit)
    resets = ahead(window.resets_at, now=now)
    return CredentialGauge(*who, window.endpoint, window.limit, window.remaining, resets)
