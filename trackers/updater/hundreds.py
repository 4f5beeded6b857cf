"""Which tweets of a unit go into which request: a pure choice.

X takes a hundred ids in a request, and counts a request with fewer as much as a full one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trackers.xapi.client import MOST_IDS

AT_ONCE = MOST_IDS


def requests_for(count: int) -> int:
    """How many requests so many tweets take."""
    return -(-count // AT_ONCE)


def room_for(requests: int, projects: int) -> int:
    """How many tweets the next batch should have, after one that had room for so many requests.

    Of several projects each needs enough tweets for a full request of its own.
    """
    return AT_ONCE * max(requests, 1 if projects < 2 else 2 * projects)


def hundreds(ids: Sequence[int], odd: Collection[int]) -> list[tuple[int, ...]]:
    """The ids of each request, ascending; the odd ones together, since they are asked for more."""
    ordered = sorted(ids, key=lambda id: (id in odd, id)) if odd else sorted(ids)
    return [
        tuple(sorted(ordered[start : start + AT_ONCE])) for start in range(0, len(ordered), AT_ONCE)
    ]


def some_of(ids: Sequence[int], count: int, *, turn: int) -> Sequence[int]:
    """Up to `count` of the ids, from a different start each time, so that none is put back every
    time."""
    if count >= len(ids):
        return ids
    start = turn % len(ids)
    return [*ids[start:], *ids[:start]][:count]


def now_of(ids: Sequence[int], *, is_full: bool, is_first: bool, turn: int) -> Sequence[int]:
    """Which tweets of a project are asked for now, of a unit that has more than one project.

    `is_full`: more are due than the unit took. Then the rest of a hundred waits for the next unit,
    where it finds company; but not where nothing at all would be asked for.
    """
    if not is_full:
        return ids
    full = len(ids) // AT_ONCE * AT_ONCE
    return some_of(ids, full, turn=turn) if full or not is_first else ids
