"""A number for each of the last thirty days, as a bar chart with a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from trackers.dashboards.bar_chart import BarChart
from trackers.dashboards.words import commas

_DAYS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class DailyChart:
    chart: BarChart
    lines: tuple[tuple[str, str], ...]  # (day, number), the newest first
    total: str  # of all days
    most: str
    first: str
    is_empty: bool


def first_day(today: date) -> date:
    return today - timedelta(days=_DAYS_SHOWN - 1)


def daily_chart(counts: Mapping[date, int], *, today: date, what: str) -> DailyChart:
    days = [first_day(today) + timedelta(days=place) for place in range(_DAYS_SHOWN)]
    numbers = [counts.get(day, 0) for day in days]
    total, most = commas(sum(numbers)), commas(max(numbers))
    return DailyChart(
        chart=BarChart(
            numbers, f"{what}: {total} in the last {_DAYS_SHOWN} days, at most {most} a day"
        ),
        lines=tuple((f"{day:%Y-%m-%d}", commas(counts.get(day, 0))) for day in reversed(days)),
        total=total,
        most=most,
        first=f"{days[0]:%-d %b}",
        is_empty=not any(numbers),
    )
