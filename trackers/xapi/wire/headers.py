"""What the headers of X's replies say: its clock, the request window, when to ask again.

A repeated header is joined by a comma ("900, 900"). Of two numbers the safer one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from trackers.xapi.results import WindowSeen

_INT4 = 2**31 - 1
_LONGEST_RETRY = timedelta(minutes=15)


# X's windows of a quarter of an hour, and those of 24 hours that some endpoints have besides
# ("Usually 15 minutes or 24 hours", x-api/fundamentals/rate-limits, 2026-08-22; the names of the
# headers are from replies recorded in 2025 and 2026). A user's token counts in the app's as well.
# Of what is asked here X's table of limits has none of 24 hours now; a plan may have.
_QUARTER = "x-rate-limit"
_DAY_OF_APP = "x-app-limit-24hour"
_DAYS = ("x-user-limit-24hour", _DAY_OF_APP)


def window_seen(headers: Mapping[str, str], endpoint: str) -> WindowSeen | None:
    """The tightest window of `endpoint`; None when no headers are complete (X's 401s have none).

    That is the one with the fewest requests left and, of two, the one that is reset later.
    """
    seen_at = date_of(headers.get("date"))
    days = [window for name in _DAYS if (window := _window(headers, name, endpoint, seen_at))]
    quarter = _window(headers, _QUARTER, endpoint, seen_at)
    if not days:
        return quarter
    known = [quarter, *days] if quarter else days
    # One that is over by X's own clock limits nothing.
    known = [one for one in known if seen_at is None or one.resets_at > seen_at] or known
    tightest = min(known, key=lambda one: (one.remaining, -one.resets_at.timestamp()))
    tightest = replace(tightest, limit_a_day=min(one.limit for one in days))
    of_app = _window(headers, _DAY_OF_APP, endpoint, seen_at)
    if of_app is None:
        return tightest
    return replace(tightest, left_to_app=of_app.remaining, app_resets_at=of_app.resets_at)


def _window(
    headers: Mapping[str, str], name: str, endpoint: str, seen_at: datetime | None
) -> WindowSeen | None:
    limit = min(_numbers(headers.get(f"{name}-limit")), default=None)
    remaining = min(_numbers(headers.get(f"{name}-remaining")), default=None)
    resets_at = _reset_time(headers, name)
    if limit is None or remaining is None or resets_at is None:
        return None
    return WindowSeen(endpoint, limit, remaining, resets_at, seen_at)


def reset_time(headers: Mapping[str, str]) -> datetime | None:
    """When the window of a quarter of an hour opens again, whatever else is missing."""
    return _reset_time(headers, _QUARTER)


def _reset_time(headers: Mapping[str, str], name: str) -> datetime | None:
    seconds = max(_numbers(headers.get(f"{name}-reset"), most=2**35), default=None)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Retry-After in seconds or as a date, relative to X's own clock; one window at most.

    X, or a machine in front of it, once asked for a day after a fault that lasted a minute.
    """
    text = headers.get("retry-after")
    seconds = max(_numbers(text), default=None)
    if seconds is not None:
        return min(timedelta(seconds=seconds), _LONGEST_RETRY)
    at, now = date_of(text), date_of(headers.get("date"))
    if at is None or now is None:
        return None
    return min(max(at - now, timedelta(0)), _LONGEST_RETRY)


def _numbers(text: str | None, *, most: int = _INT4) -> list[int]:
    """The header's numbers; none when one of them is not a whole number."""
    numbers = [_whole_number(part.strip(), most=most) for part in (text or "").split(",")]
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(numbers) else []


def _whole_number(text: str, *, most: int) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        return None
    number = int(text)
    return number if number <= most else None


# Most replies within one second carry the same text.
@lru_cache(maxsize=64)
def date_of(text: str | None) -> datetime | None:
    """An HTTP date; X has also written UTC instead of GMT."""
    try:
        date = parsedate_to_datetime(text or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
