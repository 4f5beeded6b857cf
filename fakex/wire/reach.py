"""How far a request for a page reaches: by ids, by times, and for searches X's own bounds.

A search goes back a week and stops shortly before now; X refuses requests beyond either end.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fakex.endpoints import SEARCH
from fakex.settings import Settings
from fakex.wire.requests_pages import PageAsk
from fakex.wire.requests_v2 import Invalid
from fakex.world.ids import DAY, LOW_BITS, TWEPOCH_MS

_SEARCHED_MS = 7 * DAY


@dataclass(frozen=True, slots=True)
class Bounds:
    """Posts with above < id < below; None is no bound."""

    above: int
    below: int | None


def bounds_of(ask: PageAsk, settings: Settings, *, now_ms: int) -> Bounds:
    """The ids that a request reaches; raises Invalid."""
    above = ask.since_id if ask.since_id is not None else -1
    below = ask.until_id
    start_ms, end_ms = ask.start_ms, ask.end_ms
    if ask.endpoint == SEARCH:
        _refuse_too_far(ask, settings, now_ms)
        start_ms = max(start_ms or 0, now_ms - _SEARCHED_MS)
        if end_ms is None:
            end_ms = now_ms - round(settings.search_newest_s * 1000)
    if start_ms is not None:
        above = max(above, _first_id(start_ms) - 1)
    if end_ms is not None:
        end_id = _first_id(end_ms)
        below = end_id if below is None else min(below, end_id)
    return Bounds(above, below)


def _refuse_too_far(ask: PageAsk, settings: Settings, now_ms: int) -> None:
    """X's complaints about a search that starts too early or ends too late."""
    oldest_ms, least_s = now_ms - _SEARCHED_MS, settings.search_end_s
    since, complaints = _minute(oldest_ms), []
    for name, value in (("since_id", ask.since_id), ("until_id", ask.until_id)):
        if value is not None and value < _first_id(oldest_ms):
            message = (
                f"'{name}' must be a tweet id created after {since}. "
                f"Please use a '{name}' that is larger than {_first_id(oldest_ms)}"
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


def _first_id(at_ms: int) -> int:
    """The lowest id of that millisecond."""
    return max(0, at_ms - TWEPOCH_MS) << LOW_BITS


def _minute(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ")
