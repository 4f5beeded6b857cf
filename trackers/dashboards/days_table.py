"""Look-ups and tweet-days of yesterday, today and tomorrow in a table, and what stretches waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trackers.dashboards.charts.small import BarChart
from trackers.dashboards.words import Moment, about, ago, commas, dollars
from trackers.forecasts.models import ForecastDay
from trackers.forecasts.stored import ProjectForecast, StoredForecast, stored_forecast
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Stretch
from trackers.schedule.stretch.history import StretchSpan, by_time
from trackers.schedule.stretch.words import VISIBLE, sentences, times

_STRETCHES_SHOWN, _STRETCH_STEP = timedelta(days=1), timedelta(minutes=30)
_STEPS_COUNT_FROM = datetime(1970, 1, 1, tzinfo=UTC)
_DASH = "–"
GUESSED = "first day: a guess"
NOT_STRETCHED = "No wait was stretched in the last 24 hours."


@dataclass(frozen=True, slots=True)
class DayRow:
    what: str
    lookups: str
    tweet_days: str
    off: tuple[str, str] = ("", "")  # how far the forecast was off
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProjectRow:
    name: str
    so_far: str
    expected: str
    money: str
    tomorrow: str
    foreseen: str
    came: str


@dataclass(frozen=True, slots=True)
class StretchRow:
    at: datetime
    windows: str
    money: str


@dataclass(frozen=True, slots=True)
class LastDay:
    """The stretches of the last day."""

    highest: str  # the highest, in words
    chart: BarChart
    lines: tuple[StretchRow, ...]


@dataclass(frozen=True, slots=True)
class DaysTable:
    lines: tuple[DayRow, ...]
    why: str  # what is not known
    counted: Moment | None  # when
    is_old: bool  # it was counted long ago
    stretch: tuple[str, ...]
    is_fixed: bool  # no row adapts
    last_day: LastDay | None
    projects: tuple[ProjectRow, ...]


def days_table(plan: Plan, *, now: datetime, is_whole: bool = False) -> DaysTable:
    """`is_whole`: with the projects."""
    days = stored_forecast(now=now, with_projects=is_whole)
    return DaysTable(
        lines=_day_rows(days),
        why=days.why,
        counted=ago(days.today.counted_at, now=now) if days.today.counted_at else None,
        is_old=not days.is_fresh,
        stretch=tuple(sentences(plan, Stretch.objects.filter(pk=Stretch.ONLY).first())),
        is_fixed=not plan.adapts,
        last_day=_last_day(by_time(over=_STRETCHES_SHOWN, step=_STRETCH_STEP), now=now)
        if plan.adapts
        else None,
        projects=tuple(_project_row(project) for project in days.projects),
    )


def _day_rows(days: StoredForecast) -> tuple[DayRow, ...]:
    today, tomorrow, yesterday = days.today, days.tomorrow, days.yesterday
    return (
        DayRow("Today so far", _rounded(today.lookups), _rounded(today.tweet_days)),
        _expected_row("Today by midnight", today),
        _expected_row("Tomorrow", tomorrow),
        DayRow(
            "Yesterday, forecast",
            _rounded(yesterday.foreseen_lookups),
            _rounded(yesterday.foreseen_tweet_days),
        ),
        DayRow(
            "Yesterday, actual",
            _rounded(yesterday.lookups),
            _rounded(yesterday.tweet_days),
            off=(
                _forecast_error(yesterday.lookups, yesterday.foreseen_lookups),
                _forecast_error(yesterday.tweet_days, yesterday.foreseen_tweet_days),
            ),
        ),
    )


def _expected_row(what: str, day: ForecastDay) -> DayRow:
    """Of a guess, two digits."""
    written = _guessed if day.is_guess else _rounded
    return DayRow(
        what,
        written(day.expected_lookups),
        written(day.expected_tweet_days),
        note=GUESSED if day.is_guess and day.expected_lookups is not None else "",
    )


def _guessed(value: float | None) -> str:
    return _DASH if value is None else about(value, digits=2)


def _rounded(value: float | None) -> str:
    return _DASH if value is None else commas(round(value))


def _forecast_error(came: float | None, foreseen: float | None) -> str:
    """What came against the forecast: +2%."""
    if came is None or not foreseen:
        return ""
    share = round(100 * (came / foreseen - 1))
    return f"+{share}%" if share > 0 else f"−{-share}%" if share else "as forecast"


def _project_row(project: ProjectForecast) -> ProjectRow:
    return ProjectRow(
        name=project.name,
        so_far=_rounded(project.so_far),
        expected=_rounded(project.expected),
        money=_DASH if project.spends is None else dollars(project.spends),
        tomorrow=_rounded(project.tomorrow),
        foreseen=_rounded(project.foreseen_yesterday),
        came=_rounded(project.yesterday),
    )


def _last_day(stretches: Sequence[StretchSpan], *, now: datetime) -> LastDay | None:
    """None where it was not worked out."""
    if not stretches:
        return None
    windows, money = (
        max(stretch.windows for stretch in stretches),
        max(stretch.money for stretch in stretches),
    )
    by_start = {stretch.at: stretch for stretch in stretches}
    last = now - (now - _STEPS_COUNT_FROM) % _STRETCH_STEP
    slots = [
        by_start.get(last - _STRETCH_STEP * back)
        for back in range(_STRETCHES_SHOWN // _STRETCH_STEP, -1, -1)
    ]
    sentence = (
        NOT_STRETCHED
        if max(windows, money) < VISIBLE
        else f"Highest in the last 24 hours: {times(windows)} for X's windows, "
        f"{times(money)} for money."
    )
    # Above 1, so that a day without a stretch is empty.
    drawn = [max(stretch.windows, stretch.money) - 1 if stretch else None for stretch in slots]
    return LastDay(
        highest=sentence,
        chart=BarChart(drawn, sentence),
        lines=tuple(
            StretchRow(
                stretch.at,
                times(stretch.windows),
                times(stretch.money),
            )
            for stretch in reversed(stretches)
        ),
    )
