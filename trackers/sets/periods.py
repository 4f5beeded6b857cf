"""A period, and the one before that it is compared with. Pure.

Days are those of a person's zone, so that a day in which its clock is put forward has 23 hours. The
one before is as long, and ends at the same hour: seven days until now have the same weekdays before
them, and today until 15:00 has yesterday until 15:00.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Protocol, TypeVar

from tweetwatch.notation import midnight

_ONE_HOUR, _ONE_DAY = timedelta(hours=1), timedelta(days=1)
LAST_24_HOURS = "24h"
# In days of the person's zone, today included; 24 hours are the last ones, whatever the day.
DAYS = {LAST_24_HOURS: 1, "7d": 7, "30d": 30, "90d": 90}
CUSTOM = "custom"
MAX_DAYS = 366
_EARLIEST = date(2006, 1, 1)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From `since` up to before `until`."""

    since: datetime
    until: datetime

    def __contains__(self, at: datetime) -> bool:
        return self.since <= at < self.until


class Timed(Protocol):
    @property
    def at(self) -> datetime: ...


TimedItem = TypeVar("TimedItem", bound=Timed)


def by_span(items: Iterable[TimedItem], spans: Sequence[TimeSpan]) -> list[list[TimedItem]]:
    """The items of each span; these are in the order of time and do not overlap."""
    begins = [span.since for span in spans]
    inside: list[list[TimedItem]] = [[] for _ in spans]
    for item in items:
        place = bisect_right(begins, item.at) - 1
        if place >= 0 and item.at < spans[place].until:
            inside[place].append(item)
    return inside


@dataclass(frozen=True, slots=True)
class Period:
    name: str  # of DAYS, or CUSTOM
    days: int
    zone: tzinfo
    now: datetime  # when it was asked for
    this: TimeSpan
    before: TimeSpan
    # Its days, or the hours of the last 24, each with the one that it is compared with.
    steps: tuple[tuple[TimeSpan, TimeSpan], ...]

    @property
    def is_by_hour(self) -> bool:
        return self.name == LAST_24_HOURS

    def old_enough(self, age: timedelta) -> tuple[TimeSpan, TimeSpan]:
        """The parts of both whose posts have reached the age: what is not yet old enough here is
        left out there too."""
        until = max(self.this.since, min(self.this.until, self.now - age))
        if until == self.this.until:
            return self.this, self.before
        return TimeSpan(self.this.since, until), TimeSpan(self.before.since, self._earlier(until))

    def _earlier(self, at: datetime) -> datetime:
        return at - _ONE_DAY if self.is_by_hour else _days_before(at, self.days, self.zone)


def named_period(name: str, zone: tzinfo, *, now: datetime) -> Period:
    """One of DAYS, until now."""
    if name == LAST_24_HOURS:
        return _last_24_hours(zone, now)
    today = now.astimezone(zone).date()
    return _of_days(name, today - timedelta(days=DAYS[name] - 1), today, zone, now)


def custom_period(since: date, until: date, zone: tzinfo, *, now: datetime) -> Period:
    """Whole days, the last one included; today as far as it is. A ValueError says what is wrong."""
    today = now.astimezone(zone).date()
    if since > until:
        raise ValueError("The period ends before it begins.")
    if since > today:
        raise ValueError("The period has not begun yet.")
    if since < _EARLIEST:
        raise ValueError(f"A period begins in {_EARLIEST.year} or later.")
    until = min(until, today)
    if (until - since).days >= MAX_DAYS:
        raise ValueError(f"A period has at most {MAX_DAYS} days.")
    return _of_days(CUSTOM, since, until, zone, now)


def _last_24_hours(zone: tzinfo, now: datetime) -> Period:
    since = now - _ONE_DAY
    ends = [since, *_hours_between(since, now, zone), now]
    hours = [TimeSpan(begin, end) for begin, end in pairwise(ends)]
    return Period(
        name=LAST_24_HOURS,
        days=1,
        zone=zone,
        now=now,
        this=TimeSpan(since, now),
        before=TimeSpan(since - _ONE_DAY, since),
        steps=tuple(
            (hour, TimeSpan(hour.since - _ONE_DAY, hour.until - _ONE_DAY)) for hour in hours
        ),
    )


def _hours_between(since: datetime, until: datetime, zone: tzinfo) -> Iterator[datetime]:
    """The full hours of the zone's clock."""
    at = _next_hour(since, zone)
    while at < until:
        yield at
        at = _next_hour(at, zone)


def _next_hour(at: datetime, zone: tzinfo) -> datetime:
    local = at.astimezone(zone)
    past = timedelta(minutes=local.minute, seconds=local.second, microseconds=local.microsecond)
    return at + _ONE_HOUR - past


def _of_days(name: str, first: date, last: date, zone: tzinfo, now: datetime) -> Period:
    number = (last - first).days + 1
    midnights = [midnight(first + timedelta(days=place), zone) for place in range(number + 1)]
    ends = [*midnights[:-1], min(midnights[-1], now)]
    earlier = [_days_before(at, number, zone) for at in ends]
    return Period(
        name=name,
        days=number,
        zone=zone,
        now=now,
        this=TimeSpan(ends[0], ends[-1]),
        before=TimeSpan(earlier[0], earlier[-1]),
        steps=tuple(
            (TimeSpan(*ends[place : place + 2]), TimeSpan(*earlier[place : place + 2]))
            for place in range(number)
        ),
    )


def _days_before(at: datetime, days: int, zone: tzinfo) -> datetime:
    """The same time of the zone's clock so many days earlier."""
    local = at.astimezone(zone)
    earlier = local.replace(tzinfo=None, fold=0) - timedelta(days=days)
    return earlier.replace(tzinfo=zone).astimezone(UTC)
