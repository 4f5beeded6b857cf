"""Is everything fresh? The answer in one line, the queue of tweets in a few figures, and what is
left of each credential's rate limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse

from trackers.credentials.models import Credential
from trackers.dashboards.access import VIEW_OPERATIONS
from trackers.dashboards.operations.cards import LATE_AFTER, VERY_LATE_AFTER, lateness_mood
from trackers.dashboards.words import Moment, ahead, commas, lasting
from trackers.jobs.statistics import MinuteCounters, QueueSummary

_MAX_GAUGES = 8


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
    *,
    because: str,
) -> tuple[Card, ...]:
    """`because`: why checks failed last."""
    operations = reverse("operations")
    failed, asked = sum(one.failed for one in minutes), sum(one.asked for one in minutes)
    half, almost_all = figures.lateness_p50_seconds, figures.lateness_p99_seconds
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
            "late", "Lateness", _lateness_words(half, almost_all),
            _exact_lateness(half, almost_all),
            "at the most, of half of the last five minutes' checks; and of 99 of 100.",
            operations, VIEW_OPERATIONS, lateness_mood(almost_all),
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


def _exact_lateness(half: float | None, almost_all: float | None) -> str:
    return "not known" if half is None else f"{half} s, {almost_all} s"


def _lateness_words(half: float | None, almost_all: float | None) -> str:
    return "–" if half is None or almost_all is None else f"{half:g} / {almost_all:g} s"


def _describe_failures(failed: int, asked: int, because: str) -> str:
    if not failed:
        return f"of {commas(asked)} checks. Nothing failed."
    return f"of {commas(asked + failed)} checks; they are tried again. {because}".strip()


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
