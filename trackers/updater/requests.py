"""Which tweets of a batch go into which request: a pure decision.

X takes up to a hundred ids in a request, and counts a smaller request like a full one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trackers.xapi.client import MOST_IDS

REQUEST_SIZE = MOST_IDS


def count_requests(count: int) -> int:
    """How many requests this many tweets take."""
    return -(-count // REQUEST_SIZE)


def next_batch_size(requests: int, projects: int) -> int:
    """How many tweets the next batch should have, after one that had room for this many requests.

    With several projects, each needs enough tweets for a full request of its own.
    """
    return REQUEST_SIZE * max(requests, 1 if projects < 2 else 2 * projects)


def split_into_requests(ids: Sequence[int], odd: Collection[int]) -> list[tuple[int, ...]]:
    """The ids of each request, ascending; odd tweets together, as more is requested for them."""
    ordered = sorted(ids, key=lambda id: (id in odd, id)) if odd else sorted(ids)
    return [
        tuple(sorted(ordered[start : start + REQUEST_SIZE]))
        for start in range(0, len(ordered), REQUEST_SIZE)
    ]


def rotate(ids: Sequence[int], by: int) -> Sequence[int]:
    """The ids from another one on for each number, so that none is always the last."""
    start = by % len(ids) if ids else 0
    return [*ids[start:], *ids[:start]]


def due_for_project(ids: Sequence[int], *, is_full: bool, is_first: bool) -> Sequence[int]:
    """Which tweets of a project to request now, in a batch of more than one project: the first.

    `is_full`: more tweets are due than the batch took. Then an incomplete hundred waits for the
    next batch, to fill a request there, unless nothing at all would be requested.
    """
    full = len(ids) // REQUEST_SIZE * REQUEST_SIZE
    return ids[:full] if is_full and (full or not is_first) else ids
