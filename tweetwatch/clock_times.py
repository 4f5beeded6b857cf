"""Times of day for use in sentences."""

from __future__ import annotations

from datetime import UTC, datetime


def clock_time(at: datetime, *, now: datetime, seconds: bool = True) -> str:
    """Such as 08:00:00 UTC; with the date unless it is today in UTC: 14 Mar, 08:00:00 UTC."""
    at = at.astimezone(UTC)
    time = f"{at:%H:%M:%S} UTC" if seconds else f"{at:%H:%M} UTC"
    is_today = at.date() == now.astimezone(UTC).date()
    return time if is_today else f"{at.day} {at:%b}, {time}"
