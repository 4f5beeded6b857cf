"""Which tweets of a batch go into which request: a pure decision.

X takes up to a hundred ids in a request, and counts a smaller request like a full one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trackers.xapi.client import MOST_IDS

AT_ONCE = MOST_IDS


def requests_for(count: int) -> int:
    """How many requests this many tweets take."""
    return -(-count // AT_ONCE)


def room_for(requests: int, projects: int) -> int:
    """How many tweets the next batch should have, after one that had room for this many requests.

    With several projects, each needs enough tweets for a full request of its own.
    """
    return AT_ONCE * max(requests, 1 if projects < 2 else 2 * projects)


def hundreds(ids: Sequence[int], odd: Collection[int]) -> list[tuple[int, ...]]:
    """The ids of each request, ascending; odd tweets together, as more is requested for them."""
    ordered = sorted(ids, key=lambda id: (id in odd, id)) if odd else sorted(ids)
    return [
        tuple(sorted(ordered[start : start + AT_ONCE])) for start in range(0, len(ordered), AT_ONCE)
    ]


def some_of(ids: Sequence[int], count: int, *, turn: int) -> Sequence[int]:
    """Up to `count` of the ids, starting at `turn`, so that no id is put back every time."""
    if count >= len(ids):
        return ids
    start = turn % len(ids)
    return [*ids[start:], *ids[:start]][:count]


def now_of(ids: Sequence[int], *, is_full: bool, is_first: bool, turn: int) -> Sequence[int]:
    """Which tweets of a project to request now, in a batch of more than one project.

    `is_full`: more tweets are due than the batch took. Then an incomplete hundred waits for the
    next batch, to fill a request there, unless nothing at all would be requested.
    """
    if not is_full:
        return ids
    full = len(ids) // AT_ONCE * AT_ONCE
    return some_of(ids, full, turn=turn) if full or not is_first else ids
