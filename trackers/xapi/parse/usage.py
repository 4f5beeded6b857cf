"""The body of `GET /2/usage/tweets` ─> posts billed by UTC day.

X writes the numbers as strings (OpenAPI 2.167) or as integers (2.166); both are understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from trackers.xapi.parse.fields import INT8, read_object
from trackers.xapi.results import WindowSeen


@dataclass(frozen=True, slots=True)
class Usage:
    """Posts that X billed the project on each UTC day it reported; the monthly cap."""

    days: Mapping[date, int]
    month: int | None  # posts since the day of the month on which the cap is reset
    cap: int | None
    cap_reset_day: int | None
    window: WindowSeen | None


def read_usage(body: bytes, _: Sequence[int], *, window: WindowSeen | None) -> Usage:
    """Garbage when the body is not an object; missing or malformed parts are left out."""
    data = read_object(body).get("data")
    data = data if isinstance(data, dict) else {}
    reset_day = _read_number(data.get("cap_reset_day"))
    return Usage(
        days=dict(_days_of(data.get("daily_project_usage"))),
        month=_read_number(data.get("project_usage")),
        cap=_read_number(data.get("project_cap")),
        cap_reset_day=reset_day if reset_day and reset_day <= 31 else None,
        window=window,
    )


def _days_of(usage: Any) -> list[tuple[date, int]]:
    entries = usage.get("usage") if isinstance(usage, dict) else usage
    days = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        day, posts = _day_of(entry.get("date")), _read_number(entry.get("usage"))
        if day and posts is not None:
            days.append((day, posts))
    return days


def _day_of(text: Any) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except (TypeError, ValueError):
        return None


def _read_number(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and 0 <= value <= INT8 else None
