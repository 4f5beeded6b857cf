"""Figures that stand on several pages, each made at one place: equal names have equal values.

A figure's name is in the markup (`data-figure`), where a test compares the pages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from html import escape

from django.utils.safestring import SafeString

from trackers.dashboards.words import brief, commas, lasting
from trackers.jobs.statistics import MinuteCounters, QueueSummary
from trackers.schedule.catch_up import CatchUp

# The most overdue tweet should wait little longer than a batch takes to fill; beyond this,
# investigate.
LATE_AFTER = 30.0
VERY_LATE_AFTER = 300.0
_CATCH_UP_HELP = "How long until no tweet is overdue, given what X allows and the intervals need."


@dataclass(frozen=True, slots=True)
class Figure:
    name: str  # such as `queue.due`
    label: str
    words: str
    exact: str  # the number unrounded
    help: str  # explains it
    mood: str = ""  # "", "warn" or "bad"

    @property
    def html(self) -> SafeString:
        return figure_html(self.name, self.words, self.exact)


def figure_html(name: str, words: str, exact: str) -> SafeString:
    exact = escape(exact)
    return SafeString(
        f'<data data-figure="{escape(name)}" value="{exact}" title="{exact}">{escape(words)}</data>'
    )


@dataclass(frozen=True, slots=True)
class SummaryFigures:
    """Of the tweets' queue; fields in the order of the page of operations."""

    scheduled: Figure
    due: Figure
    oldest_due: Figure
    in_flight: Figure
    checked: Figure
    lateness_half: Figure
    lateness_almost_all: Figure
    batch_fill: Figure
    isolated: Figure


def summary_figures(queue: QueueSummary) -> SummaryFigures:
    half, almost_all = queue.lateness_p50_seconds, queue.lateness_p99_seconds
    return SummaryFigures(
        _whole("queue.scheduled", "Scheduled", queue.scheduled, "Tweets that have a next check."),
        _whole("queue.due", "Due now", queue.due, "Tweets whose check is due now."),
        _seconds(
            "queue.oldest_due", "Longest overdue", queue.oldest_due_seconds,
            "How long ago the most overdue tweet should have been checked.",
            mood=_lateness_mood(queue.oldest_due_seconds),
        ),
        _whole(
            "queue.in_flight", "Being checked", queue.in_flight,
            "Tweets that a worker is asking X about.",
        ),
        _whole(
            "queue.checked", "Checked a minute", queue.checked_last_minute,
            "In the last 60 seconds.",
        ),
        _seconds(
            "queue.lateness_half", "Lateness of half", half,
            "Half of the last five minutes' checks were no later than this.",
        ),
        _seconds(
            "queue.lateness_almost_all", "Lateness of 99 in 100", almost_all,
            "99 of 100 checks of the last five minutes were no later than this.",
            # Of the last minutes: while nothing is late now, it is no trouble.
            mood=_lateness_mood(almost_all) if queue.oldest_due_seconds > LATE_AFTER else "",
        ),
        _batch_fill(queue.batch_fill),
        _whole(
            "queue.isolated", "Isolated", queue.isolated,
            "Tweets set aside after four checks that never finished.",
            mood="warn" if queue.isolated else "",
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class HourFigures:
    checks: Figure
    failed: Figure


def hour_figures(minutes: Iterable[MinuteCounters]) -> HourFigures:
    """`minutes`: those of the last hour."""
    minutes = list(minutes)
    failed = sum(one.failed for one in minutes)
    return HourFigures(
        _whole(
            "checks.last_hour", "Checks this hour", sum(one.measured for one in minutes),
            "Checks of the last 60 minutes that brought figures.",
        ),
        _whole(
            "checks.failed_last_hour", "Failed this hour", failed,
            "Checks of the last 60 minutes that failed. They are tried again.",
            mood="warn" if failed else "",
        ),
    )  # fmt: skip


def catch_up_figure(forecast: CatchUp, *, idle: str) -> Figure:
    """`idle`: why nothing is being checked, if so."""

    def figure(words: str, exact: str, mood: str = "", help: str = _CATCH_UP_HELP) -> Figure:
        return Figure("queue.catch_up", "Catch-up", words, exact, help, mood)

    if idle and forecast.state == "fresh":
        return figure("–", "not known", "warn", f"No tweet is late yet, but {idle}.")
    if forecast.state == "fresh":
        return figure("nothing is late", "0 s")
    if forecast.state == "never":
        return figure("never", "never", "bad")
    if forecast.length is None:
        return figure("–", "not known", "warn")
    return figure(about(forecast.length), f"{forecast.length.total_seconds():.0f} s", "warn")


def about(length: timedelta) -> str:
    """In whole minutes, rounded up."""
    return lasting(timedelta(minutes=max(1, math.ceil(length / timedelta(minutes=1)))))


def _lateness_mood(seconds: float | None) -> str:
    # The figures of lateness are the upper bounds of classes: "no later than 30 s" is not late.
    if seconds is None or seconds <= LATE_AFTER:
        return ""
    return "warn" if seconds <= VERY_LATE_AFTER else "bad"


def _whole(name: str, label: str, number: int, help: str, mood: str = "") -> Figure:
    return Figure(name, label, commas(number), str(number), help, mood)


def _seconds(name: str, label: str, number: float | None, help: str, mood: str = "") -> Figure:
    if number is None:
        return Figure(name, label, "–", "not known", help, mood)
    return Figure(name, label, brief(number), f"{round(number, 3):,} s", help, mood)


def _batch_fill(ids: float | None) -> Figure:
    name, label = "queue.batch_fill", "Tweets a request"
    help = "How many tweets a request asks for, on average over the last five minutes; X takes 100."
    if ids is None:
        return Figure(name, label, "–", "not known", help)
    return Figure(name, label, f"{ids:,.1f}", f"{ids} tweets a request", help)
