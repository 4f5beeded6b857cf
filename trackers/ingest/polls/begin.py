"""Where a reading begins: a poll at its cursor, a gap at its edge, an overlap at its depth.

`now_ms` is the present in Unix ms, by any clock that is correct to within minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from trackers.ingest.cursor import MILLISECOND, next_since_id, search_floor
from trackers.ingest.polls.sweep import Cursor, Purpose, ReadingRules, Sweep, Unread
from trackers.tweets.snowflake import first_id_at


@dataclass(frozen=True, slots=True)
class Begun:
    """The sweep to read, None if X no longer shows any of it; and the part that is lost."""

    sweep: Sweep | None
    lost: Unread | None = None


def begin_poll(
    cursor: Cursor | None, rules: ReadingRules, *, depth: timedelta | None, now_ms: int
) -> Begun:
    """The next poll. Without a cursor it reads back by `depth`; None: all that X shows."""
    if cursor is None:
        since_id = None if depth is None else first_id_at(now_ms - depth // MILLISECOND)
        floor = floor_of(rules, now_ms=now_ms)
        return Begun(_sweep("poll", _highest(since_id, floor), None, rules))
    since_id = since_id_of(cursor, rules)
    begun = _sweep("poll", since_id, None, rules)
    begun = replace(begun, through_id=max(since_id, through_id_of(cursor, rules)))
    return above_floor(begun, floor_of(rules, now_ms=now_ms))


def begin_gap(gap: Unread, rules: ReadingRules, *, passed: int, now_ms: int) -> Begun:
    """Filling a gap; `passed`: how many posts newer than it the source has yielded by now."""
    if rules.kind == "list":
        # Lists have no ids to begin at, only the place where reading stopped.
        filling = replace(_sweep("gap", gap.from_id, None, rules), token=gap.token, passed=passed)
        return Begun(filling) if gap.token else Begun(None, replace(gap, why="reach"))
    filling = replace(_sweep("gap", gap.from_id, gap.to_id, rules), passed=passed)
    if rules.kind == "archive":
        return Begun(replace(filling, of_archive=True))
    return above_floor(filling, floor_of(rules, now_ms=now_ms))


def begin_overlap(rules: ReadingRules, *, depth: timedelta, now_ms: int) -> Begun:
    """Read all of the last `depth` again, whatever was read before."""
    since_id = first_id_at(now_ms - depth // MILLISECOND)
    floor = floor_of(rules, now_ms=now_ms)
    return Begun(_sweep("overlap", _highest(since_id, floor), None, rules))


def above_floor(sweep: Sweep, floor: int | None) -> Begun:
    """The same from a floor up: X's own, or the id it names when it refuses `since_id`.

    What is below was read before, or is lost, and reported as such.
    """
    if floor is None or (sweep.since_id is not None and sweep.since_id >= floor):
        return Begun(sweep)
    through = _highest(sweep.since_id, sweep.through_id)
    edge = floor + 1
    if sweep.until_id is not None:
        edge = min(edge, sweep.until_id)
    lost = Unread(through, edge, "reach") if through is None or through + 1 < edge else None
    if sweep.purpose == "overlap":
        lost = None
    if sweep.until_id is not None and sweep.until_id <= floor + 1:
        return Begun(None, lost)
    return Begun(replace(sweep, since_id=floor, through_id=_highest(through, floor)), lost)


def since_id_of(cursor: Cursor, rules: ReadingRules) -> int:
    return next_since_id(cursor.latest_id, _indexed_at_ms(cursor, rules), k_ms=rules.k_ms)


def through_id_of(cursor: Cursor, rules: ReadingRules) -> int:
    """Everything up to here was read, even where nothing was posted."""
    at = _indexed_at_ms(cursor, rules)
    return 0 if at is None else max(0, first_id_at(at - rules.k_ms) - 1)


def passed_id_of(cursor: Cursor, rules: ReadingRules) -> int:
    """No later poll reads up to here: a new post below it is a leak."""
    return max(cursor.passed_id, since_id_of(cursor, rules))


def _indexed_at_ms(cursor: Cursor, rules: ReadingRules) -> int | None:
    """The time that the last poll's results reflect: search is some seconds behind."""
    return None if cursor.asked_at_ms is None else cursor.asked_at_ms - rules.lag_ms


def floor_of(rules: ReadingRules, *, now_ms: int) -> int | None:
    return search_floor(now_ms, rules.margin) if rules.kind == "search" else None


def _sweep(
    purpose: Purpose, since_id: int | None, until_id: int | None, rules: ReadingRules
) -> Sweep:
    return Sweep(purpose, since_id, until_id, pages_left=rules.pages)


def _highest(*ids: int | None) -> int | None:
    return max((id for id in ids if id is not None), default=None)
