"""Looks and tweet-days of yesterday, today and tomorrow in a table, and what stretches waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from trackers.dashboards.bar_chart import BarChart
from trackers.dashboards.words import Moment, ago, counted, dollars
from trackers.forecasts.stored import ProjectForecast, StoredForecast, stored_forecast
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.stretch_words import VISIBLE, sentences, times
from trackers.schedule.stretched import Stretched, by_time

OVER, STEP = timedelta(days=1), timedelta(minutes=30)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = "–"
NOT_STRETCHED = "No wait was stretched in the last 24 hours."


@dataclass(frozen=True, slots=True)
class Line:
    """`off`: how far the forecast was off."""

    what: str
    looks: str
    tweet_days: str
    off: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class ProjectLine:
    name: str
    so_far: str
    expected: str
    money: str
    tomorrow: str
    foreseen: str
    came: str


@dataclass(frozen=True, slots=True)
class StretchLine:
    at: str
    windows: str
    money: str


@dataclass(frozen=True, slots=True)
class LastDay:
    """The stretches of the last day. `said`: the highest, in words."""

    said: str
    chart: BarChart
    lines: tuple[StretchLine, ...]


@dataclass(frozen=True, slots=True)
class Days:
    """`counted`: when, if that is long ago. `why`: what is not known. `is_fixed`: no row adapts."""

    lines: tuple[Line, ...]
    why: str
    counted: Moment | None
    stretch: tuple[str, ...]
    is_fixed: bool
    last_day: LastDay | None
    projects: tuple[ProjectLine, ...]


def days(plan: Plan, *, now: datetime, is_whole: bool = False) -> Days:
    """`is_whole`: with the projects."""
    found = stored_forecast(now=now, with_projects=is_whole)
    return Days(
        lines=lines(found),
        why=found.why,
        counted=stale(found, now=now),
        stretch=tuple(sentences(plan, Stretch.objects.filter(pk=Stretch.ONLY).first())),
        is_fixed=not plan.adapts,
        last_day=last_day(by_time(over=OVER, step=STEP), now=now) if plan.adapts else None,
        projects=tuple(project_line(one) for one in found.projects),
    )


def stale(found: StoredForecast, *, now: datetime) -> Moment | None:
    at = found.today.counted_at
    return ago(at, now=now) if at and not found.is_fresh else None


def lines(found: StoredForecast) -> tuple[Line, ...]:
    today, tomorrow, yesterday = found.today, found.tomorrow, found.yesterday
    return (
        Line("Today so far", number(today.looks), number(today.tweet_days)),
        Line(
            "Today by midnight",
            number(today.expected_looks),
            number(today.expected_tweet_days),
        ),
        Line(
            "Tomorrow",
            number(tomorrow.expected_looks),
            number(tomorrow.expected_tweet_days),
        ),
        Line(
            "Yesterday, forecast",
            number(yesterday.foreseen_looks),
            number(yesterday.foreseen_tweet_days),
        ),
        Line(
            "Yesterday, actual",
            number(yesterday.looks),
            number(yesterday.tweet_days),
            off=(
                off(yesterday.looks, yesterday.foreseen_looks),
                off(yesterday.tweet_days, yesterday.foreseen_tweet_days),
            ),
        ),
    )


def number(value: float | None) -> str:
    return UNKNOWN if value is None else counted(round(value))


def off(came: float | None, foreseen: float | None) -> str:
    """What came against the forecast: +2%."""
    if came is None or not foreseen:
        return ""
    share = round(100 * (came / foreseen - 1))
    return f"+{share}%" if share > 0 else f"−{-share}%" if share else "as forecast"


def project_line(one: ProjectForecast) -> ProjectLine:
    spends = None if one.expected is None else Decimal(round(one.expected)) * one.price
    return ProjectLine(
        name=one.name,
        so_far=number(one.so_far),
        expected=number(one.expected),
        money=UNKNOWN if spends is None else dollars(spends),
        tomorrow=number(one.tomorrow),
        foreseen=number(one.foreseen_yesterday),
        came=number(one.yesterday),
    )


def last_day(found: Sequence[Stretched], *, now: datetime) -> LastDay | None:
    """None where it was not worked out."""
    if not found:
        return None
    windows, money = max(one.windows for one in found), max(one.money for one in found)
    by_start = {one.at: one for one in found}
    last = now - (now - EPOCH) % STEP
    slots = [by_start.get(last - STEP * back) for back in range(OVER // STEP, -1, -1)]
    said = (
        NOT_STRETCHED
        if max(windows, money) < VISIBLE
        else f"Highest in the last 24 hours: {times(windows)} for X's windows, "
        f"{times(money)} for money."
    )
    # Above 1, so that a day without a stretch is empty.
    drawn = [max(one.windows, one.money) - 1 if one else None for one in slots]
    return LastDay(
        said=said,
        chart=BarChart(drawn, said),
        lines=tuple(
            StretchLine(
                f"{one.at.astimezone(UTC):%Y-%m-%d %H:%M}", times(one.windows), times(one.money)
            )
            for one in reversed(found)
        ),
    )
