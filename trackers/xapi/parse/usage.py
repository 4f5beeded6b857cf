"""What X says of money: the body of `GET /2/usage/tweets` ─> posts billed by UTC day, and that of
`GET /2/usage/credits` ─> dollars left.

X writes numbers as strings (OpenAPI 2.167) or as integers (2.166), and days as a list of posts by
app where its guide shows them (x-api/usage/introduction, 2026-08-22); all are understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from trackers.xapi.parse.fields import INT8, read_object
from trackers.xapi.results import WindowSeen

_MOST_DOLLARS = 10**8
_MICRO = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Usage:
    """Posts that X billed the project on each UTC day it reported; the monthly cap."""

    days: Mapping[date, int]
    month: int | None  # posts since the cap was last reset
    cap: int | None
    # `cap_reset_day`, "Number of days left for the Tweet cap to reset" (2.166), despite its name.
    days_until_reset: int | None
    window: WindowSeen | None


@dataclass(frozen=True, slots=True)
class Credits:
    """What is left of the credits; None when the body did not say."""

    left: Decimal | None
    window: WindowSeen | None


def read_balance(body: bytes, _: Sequence[int], *, window: WindowSeen | None) -> Credits:
    """`total_balance`: "max(0, prepaid_balance + free_balance)", in US dollars (2.167)."""
    data = read_object(body).get("data")
    return Credits(_dollars(data.get("total_balance") if isinstance(data, dict) else None), window)


def _dollars(value: Any) -> Decimal | None:
    if type(value) not in (int, float, str) or len(str(value)) > 40:
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    if not amount.is_finite() or not 0 <= amount < _MOST_DOLLARS:
        return None
    return amount.quantize(_MICRO)


def read_usage(body: bytes, _: Sequence[int], *, window: WindowSeen | None) -> Usage:
    """Garbage when the body is not an object; missing or malformed parts are left out."""
    data = read_object(body).get("data")
    data = data if isinstance(data, dict) else {}
    days_left = _read_number(data.get("cap_reset_day"))
    return Usage(
        days=dict(_days_of(data.get("daily_project_usage"))),
        month=_read_number(data.get("project_usage")),
        cap=_read_number(data.get("project_cap")),
        days_until_reset=days_left if days_left is not None and days_left <= 31 else None,
        window=window,
    )


def _days_of(usage: Any) -> list[tuple[date, int]]:
    entries = usage.get("usage") if isinstance(usage, dict) else usage
    days = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        day, posts = _day_of(entry.get("date")), _posts_of(entry.get("usage"))
        if day and posts is not None:
            days.append((day, posts))
    return days


def _posts_of(usage: Any) -> int | None:
    """A number, or one for each app."""
    if not isinstance(usage, list):
        return _read_number(usage)
    by_app = [_read_number(one.get("tweets_consumed")) for one in usage if isinstance(one, dict)]
    known = [posts for posts in by_app if posts is not None]
    return sum(known) if known and len(known) == len(usage) else None


def _day_of(text: Any) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except (TypeError, ValueError):
        return None


def _read_number(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():
        value = int(value)
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= INT8 else None
