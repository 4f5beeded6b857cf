"""What the headers of X's replies say: its clock, the request window, when to come again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

from trackers.xapi.answers import WindowSeen

INT4 = 2**31 - 1
LONGEST_RETRY = timedelta(days=1)


def window_seen(headers: Mapping[str, str], endpoint: str) -> WindowSeen | None:
    """The window of `endpoint`; None when the headers are not all there (X's 401s have none)."""
    limit = whole_number(headers.get("x-rate-limit-limit"))
    remaining = whole_number(headers.get("x-rate-limit-remaining"))
    resets_at = reset_time(headers)
    if limit is None or remaining is None or resets_at is None:
        return None
    seen_at = date_of(headers.get("date")) or datetime.now(UTC)
    return WindowSeen(endpoint, limit, remaining, resets_at, seen_at)


def reset_time(headers: Mapping[str, str]) -> datetime | None:
    seconds = whole_number(headers.get("x-rate-limit-reset"), most=2**35)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """Retry-After as seconds or as a date, counted by X's own clock; at most a day."""
    text = headers.get("retry-after")
    seconds = whole_number(text)
    if seconds is not None:
        return min(timedelta(seconds=seconds), LONGEST_RETRY)
    at, now = date_of(text), date_of(headers.get("date")) or datetime.now(UTC)
    return None if at is None else min(max(at - now, timedelta(0)), LONGEST_RETRY)


def whole_number(text: str | None, *, most: int = INT4) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
        return None
    number = int(text)
    return number if number <= most else None


# Most replies of a second carry the same text.
@lru_cache(maxsize=64)
def date_of(text: str | None) -> datetime | None:
    """An HTTP date, which X has also written with UTC in the place of GMT."""
    try:
        date = parsedate_to_datetime(text or "")
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
