"""On which of a person's days a digest comes, and which days it is about. Pure.

A day and an hour are those of the person's clock. Where that skips the hour it comes right after,
and where the hour comes twice, at the first.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.db.models import IntegerChoices, TextChoices

_SATURDAY = 5


class Every(TextChoices):
    DAY = "day", "every day"
    WEEKDAY = "weekday", "from Monday to Friday"
    WEEK = "week", "once a week"


class Weekday(IntegerChoices):
    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


def last_occasion(every: str, weekday: int, hour: int, zone: tzinfo, *, now: datetime) -> date:
    """The latest day of the zone on which it was to come, and whose hour has passed."""
    day = now.astimezone(zone).date()
    while not (_is_on(day, every, weekday) and _moment(day, hour, zone) <= now):
        day -= timedelta(days=1)
    return day


def days_told(every: str, day: date) -> int:
    """How many days it is about, of which the last is the one before: on Monday, what comes on
    weekdays has the weekend too."""
    if every == Every.WEEK:
        return 7
    return 3 if every == Every.WEEKDAY and day.weekday() == Weekday.MONDAY else 1


def _is_on(day: date, every: str, weekday: int) -> bool:
    if every == Every.WEEK:
        return day.weekday() == weekday
    return every == Every.DAY or day.weekday() < _SATURDAY


def _moment(day: date, hour: int, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(hour), zone).astimezone(UTC)
