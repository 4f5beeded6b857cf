"""The last sixty minutes of checks as bars of an inline SVG; minutes without checks are empty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.words import commas
from trackers.jobs.statistics import MinuteCounters

_MINUTES_SHOWN = 60
_BAR, _GAP, _HEIGHT = 9, 2, 72


@dataclass(frozen=True, slots=True)
class Bar:
    x: int
    y: str
    height: str
    words: str


@dataclass(frozen=True, slots=True)
class Bars:
    """The newest is on the right; the last minute is not over yet."""

    bars: tuple[Bar, ...]
    most: str
    label: str
    width: int = _MINUTES_SHOWN * (_BAR + _GAP) - _GAP
    height: int = _HEIGHT


def bars(minutes: Iterable[MinuteCounters], *, now: datetime) -> Bars:
    measured = {minute.minute: minute.measured for minute in minutes}
    last = now.replace(second=0, microsecond=0)
    times = [last - timedelta(minutes=back) for back in range(_MINUTES_SHOWN - 1, -1, -1)]
    most = max((measured.get(at, 0) for at in times), default=0)
    total = sum(measured.get(at, 0) for at in times)
    return Bars(
        bars=tuple(_bar(place, at, measured.get(at, 0), most) for place, at in enumerate(times)),
        most=commas(most),
        label=f"{commas(total)} checks in the last 60 minutes, at most {commas(most)} in a minute",
    )


def _bar(place: int, at: datetime, measured: int, most: int) -> Bar:
    height = _HEIGHT * measured / most if most else 0
    return Bar(
        x=place * (_BAR + _GAP),
        y=f"{_HEIGHT - height:.1f}",
        height=f"{height:.1f}",
        words=f"{at:%H:%M} UTC: {commas(measured)} checks",
    )
