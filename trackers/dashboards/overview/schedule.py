"""The next hour's checks as a bar chart, with the numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.bar_chart import BarChart
from trackers.dashboards.words import commas
from trackers.jobs.ahead import Ahead, minute_of

_NEXT_MINUTES = 60


@dataclass(frozen=True, slots=True)
class MinuteRow:
    at: str
    due: str


@dataclass(frozen=True, slots=True)
class Schedule:
    chart: BarChart
    total: str
    most: str
    note: str  # where the count ends, if that is before the hour does
    lines: tuple[MinuteRow, ...]


def schedule(due_ahead: Ahead, *, now: datetime) -> Schedule:
    counts = due_ahead.next_minutes(_NEXT_MINUTES, now=now)
    known = [count for count in counts if count is not None]
    is_whole = len(known) == _NEXT_MINUTES
    total = commas(sum(known)) if is_whole else f"more than {commas(sum(known))}"
    times = [minute_of(now) + timedelta(minutes=place) for place in range(_NEXT_MINUTES)]
    return Schedule(
        chart=BarChart(counts, f"{total} checks are due in the next 60 minutes"),
        total=total,
        most=commas(max(known, default=0)),
        note="" if is_whole else _cut_off_note(times[len(known)]),
        lines=tuple(
            MinuteRow(f"{at:%H:%M}", commas(count))
            for at, count in zip(times, counts, strict=True)
            if count is not None
        ),
    )


def _cut_off_note(ends: datetime) -> str:
    return f"Counted only up to {ends:%H:%M} UTC: there are too many checks to count them all."
