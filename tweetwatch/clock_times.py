"""Times as people and programs read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload

from tweetwatch import notation


def clock_time(at: datetime, *, now: datetime, seconds: bool = True) -> str:
    """By the reader's clock, such as 08:00:00 UTC; with the date unless it is today there: 14 Mar,
    08:00:00 UTC."""
    time = notation.time_of_day(at, is_exact=seconds)
    is_today = notation.local(at).date() == notation.local(now).date()
    return time if is_today else f"{notation.day_and_month(at)}, {time}"


@overload
def iso(at: datetime, *, to: str = "auto") -> str: ...
@overload
def iso(at: datetime | None, *, to: str = "auto") -> str | None: ...
def iso(at: datetime | None, *, to: str = "auto") -> str | None:
    """For programs: ISO 8601 in UTC, such as 2026-03-14T08:00:00Z. `to`: how exactly, as `timespec`
    of `isoformat`; by default with microseconds where there are any."""
    return at.astimezone(UTC).isoformat(timespec=to).replace("+00:00", "Z") if at else None
