"""Times as the person who asks has chosen to read them: in which zone, and how.

A request of somebody who is signed in has that person's (`dashboards.account.times`); all else, as
commands, tasks, feeds and the API, has UTC. A time is always followed by its offset from UTC, since
no abbreviation of a zone is unambiguous: 2026-03-14 13:45:00 UTC+5:45.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Literal
from zoneinfo import available_timezones

DateOrder = Literal["ymd", "dmy", "mdy"]
# The name of a month, since 3/4 is March to some and April to others.
_DATES = {"ymd": "%Y-%m-%d", "dmy": "%-d %b %Y", "mdy": "%b %-d, %Y"}
_CLOCKS = {
    (24, True): "%H:%M:%S",
    (24, False): "%H:%M",
    (12, True): "%-I:%M:%S %p",
    (12, False): "%-I:%M %p",
}


@dataclass(frozen=True, slots=True)
class Notation:
    zone: tzinfo = UTC
    dates: DateOrder = "ymd"
    hours: int = 24  # or 12
    week_start: int = 0  # a weekday, from Monday


_in_use: ContextVar[Notation] = ContextVar("notation", default=Notation())  # noqa: B039


def use(notation: Notation) -> None:
    """For the thread's request; `Notation()` when it is over."""
    _in_use.set(notation)


@contextmanager
def read_as(notation: Notation) -> Iterator[None]:
    """What is written within is for this reader: an e-mail that a worker makes."""
    before = _in_use.set(notation)
    try:
        yield
    finally:
        _in_use.reset(before)


@cache
def known_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def is_known_zone(name: str) -> bool:
    """That of a place, or UTC: an abbreviation means several."""
    return name in known_zones() and ("/" in name or name == "UTC")


def zone() -> tzinfo:
    """The reader's."""
    return _in_use.get().zone


def midnight(day: date, zone: tzinfo) -> datetime:
    """When the day begins, in UTC; where the clock skips midnight, that is when it is put forward,
    and where midnight comes twice, it is the first."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def day_of(at: datetime) -> datetime:
    """When the reader's day of that moment began, in UTC."""
    return midnight(local(at).date(), zone())


def next_day(at: datetime) -> datetime:
    """When the reader's next day begins, in UTC."""
    return midnight(local(at).date() + timedelta(days=1), zone())


def day(at: datetime) -> str:
    """The day in the reader's zone: 2026-03-14."""
    notation = _in_use.get()
    return f"{local(at):{_DATES[notation.dates]}}"


def weekdays() -> tuple[int, ...]:
    """The days of the reader's week, each counted from Monday."""
    first = _in_use.get().week_start
    return tuple((first + place) % 7 for place in range(7))


def local(at: datetime) -> datetime:
    """The same moment by the reader's clock."""
    return at.astimezone(_in_use.get().zone)


def clock(at: datetime) -> str:
    """Such as 08:00, where the zone is said beside it."""
    return f"{local(at):{_CLOCKS[_in_use.get().hours, False]}}"


def time_of_day(at: datetime, *, is_exact: bool = False) -> str:
    """Such as 08:00 UTC; `is_exact`: with seconds."""
    return _written(at, dates="", is_exact=is_exact)


def day_and_month(at: datetime) -> str:
    """Such as 14 Mar, where the year is plain."""
    local_at = local(at)
    if _in_use.get().dates == "mdy":
        return f"{local_at:%b} {local_at.day}"
    return f"{local_at.day} {local_at:%b}"


def in_utc(at: datetime) -> str:
    """Whatever the reader chose, for comparing with others: 2026-03-14 08:00:00 UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def with_utc(at: datetime) -> str:
    """`exactly`, and the same in UTC where the reader's clock is another."""
    written, utc = exactly(at), in_utc(at)
    return written if written == utc else f"{written} = {utc}"


def exactly(at: datetime) -> str:
    """Such as 2026-03-14 08:00:00 UTC."""
    return _written(at, dates=_DATES[_in_use.get().dates], is_exact=True)


def to_the_minute(at: datetime) -> str:
    """Such as 2026-03-14 08:00 UTC."""
    return _written(at, dates=_DATES[_in_use.get().dates], is_exact=False)


def offset(at: datetime) -> str:
    """How far the reader's clock is from UTC at that time: UTC, UTC+5:45."""
    length = local(at).utcoffset()
    if not length:
        return "UTC"
    hours, minutes = divmod(abs(length) // timedelta(minutes=1), 60)
    sign = "−" if length < timedelta(0) else "+"
    return f"UTC{sign}{hours}:{minutes:02}" if minutes else f"UTC{sign}{hours}"


def _written(at: datetime, *, dates: str, is_exact: bool) -> str:
    notation = _in_use.get()
    form = f"{dates} {_CLOCKS[notation.hours, is_exact]}".lstrip()
    return f"{local(at):{form}} {offset(at)}"
