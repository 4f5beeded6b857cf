"""How far a request for a page reaches: by ids, by times, and for searches X's own bounds.

A recent search goes back a week, one of the archive 30 days or as far as asked; both stop shortly
before now. X refuses requests beyond either end. A count reaches as far as the search.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fakex.endpoints import ALL_COUNTS, COUNTS, SEARCH, SEARCH_ALL
from fakex.settings import Settings
from fakex.wire.counts import CountsAsk
from fakex.wire.requests_pages import PageAsk
from fakex.wire.requests_v2 import Invalid
from fakex.world.ids import DAY, LOW_BITS, TWEPOCH_MS

_SEARCHED_MS = 7 * DAY
# "start_time … default: 30 days ago" (x-api/posts/search/quickstart/full-archive-search, and
# x-api/posts/counts/integrate/overview; 2026-08-22). The first post is of March 2006.
_ARCHIVED_MS, FIRST_MS = 30 * DAY, round(datetime(2006, 3, 21, tzinfo=UTC).timestamp() * 1000)
_MIXED = "Invalid use of 'since_id' or 'until_id' in conjunction with 'start_time' or 'end_time'."
_RECENT, _ARCHIVE = (SEARCH, COUNTS), (SEARCH_ALL, ALL_COUNTS)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Posts with above < id < below; None is no bound."""

    above: int
    below: int | None
    from_ms: int = 0
    until_ms: int = 0


def bounds_of(ask: PageAsk | CountsAsk, settings: Settings, *, now_ms: int) -> Bounds:
    """The ids that a request reaches; raises Invalid."""
    above = ask.since_id if ask.since_id is not None else -1
    below = ask.until_id
    start_ms, end_ms = ask.start_ms, ask.end_ms
    if ask.endpoint in (*_RECENT, *_ARCHIVE):
        oldest_ms = now_ms - _SEARCHED_MS if ask.endpoint in _RECENT else FIRST_MS
        _refuse_too_far(ask, settings, oldest_ms=oldest_ms, now_ms=now_ms)
        is_open = ask.endpoint in _ARCHIVE and start_ms is None and ask.since_id is None
        start_ms = now_ms - _ARCHIVED_MS if is_open else max(start_ms or 0, oldest_ms)
        if end_ms is None:
            end_ms = now_ms - round(settings.search_newest_s * 1000)
    if start_ms is not None:
        above = max(above, first_id(start_ms) - 1)
    if end_ms is not None:
        end_id = first_id(end_ms)
        below = end_id if below is None else min(below, end_id)
    return Bounds(above, below, start_ms or 0, end_ms or now_ms)


def _refuse_too_far(
    ask: PageAsk | CountsAsk, settings: Settings, *, oldest_ms: int, now_ms: int
) -> None:
    """X's complaints about a search that starts too early or ends too late."""
    least_s = settings.search_end_s
    since, complaints = _minute(oldest_ms), []
    ids, times = (ask.since_id, ask.until_id), (ask.start_ms, ask.end_ms)
    if isinstance(ask, PageAsk) and {None} not in (set(ids), set(times)):
        # X's words, as of 2021 and 2022 (DocNow/twarc#451, plhery/node-twitter-api-v2#152).
        complaints.append(("since_id", [str(ids)], _MIXED))
    for name, value in (("since_id", ask.since_id), ("until_id", ask.until_id)):
        if value is not None and value < first_id(oldest_ms):
            message = (
                f"'{name}' must be a tweet id created after {since}. "
                f"Please use a '{name}' that is larger than {first_id(oldest_ms)}"
            )
            complaints.append((name, [str(value)], message))
    for name, at_ms in (("start_time", ask.start_ms), ("end_time", ask.end_ms)):
        if at_ms is not None and at_ms < oldest_ms:
            message = f"'{name}' must be on or after {since}."
            complaints.append((name, [_minute(at_ms)], f"Invalid '{name}'. {message}"))
    if ask.end_ms is not None and ask.end_ms > now_ms - least_s * 1000:
        message = f"'end_time' must be a minimum of {least_s:g} seconds prior to the request time."
        complaints.append(("end_time", [_minute(ask.end_ms)], message))
    if complaints:
        raise Invalid(complaints)


def first_id(at_ms: int) -> int:
    """The lowest id of that millisecond."""
    return max(0, at_ms - TWEPOCH_MS) << LOW_BITS


def _minute(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ")
