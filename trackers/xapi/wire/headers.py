"""What the headers of X's replies say: its clock, the request window, when to ask again.

A repeated header is joined by a comma ("900, 900"). Of two numbers the safer one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from trackers.xapi.results import WindowSeen

_INT4 = 2**31 - 1
_LONGEST_RETRY = timedelta(minutes=15)


def window_seen(headers: Mapping[str, str], endpoint: str) -> WindowSeen | None:
    """The window of `endpoint`; None when the headers are not all there (X's 401s have none)."""
    limit = min(_numbers(headers.get("x-rate-limit-limit")), default=None)
    remaining = min(_numbers(headers.get("x-rate-limit-remaining")), default=None)
    resets_at = reset_time(headers)
    if limit is None or remaining is None or resets_at is None:
        return None
    return WindowSeen(endpoint, limit, remaining, resets_at, date_of(headers.get("date")))


def reset_time(headers: Mapping[str, str]) -> datetime | None:
    seconds = max(_numbers(headers.get("x-rate-limit-reset"), most=2**35), default=None)
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
