"""The locks of timelines, which every writer takes first, in the order of their names.

A statement that waits for a lock sees other tables as they were when it began. So where entries are
read, the lock is a statement of its own, and the following ones, in the same transaction, see all
that earlier holders of it have committed.

Missing rows are created before the first lock: a transaction that waits for a row that another one
has created but not committed holds nothing that others could wait for. So one operation per
transaction is free of deadlocks, and so are several if their names ascend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trackers.timelines.entries import texts
from tweetwatch.database import cursor

# In the order of names, which come sorted: two transactions that create the same names wait for
# each other in that order. A scalar subquery, since a join might be planned as a scan of the whole
# table. Existing names use up no number of the sequence.
_MAKE = """
    INSERT INTO trackers_timeline (name)
    SELECT a.name FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
    WHERE (SELECT id FROM trackers_timeline WHERE name = a.name) IS NULL
    ORDER BY a.place
    ON CONFLICT (name) DO NOTHING
"""

# Locks: the rows of timelines, in the order of names. LATERAL: one after the other, each by its
# name. The values returned are those after the lock was granted.
_LOCK = """
    SELECT a.name, t.id, t.seq, t.live
    FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
    CROSS JOIN LATERAL (
        SELECT id, seq, live FROM trackers_timeline WHERE name = a.name FOR NO KEY UPDATE
    ) t
    ORDER BY a.place
"""


def often_in(ids: str) -> str:
    """SQL for how often the id of timeline `t` is in a sorted array: the number of elements up to
    it, minus those below it, each by a binary search."""
    return f"(width_bucket(t.id, {ids}) - width_bucket(t.id - 1, {ids}))"


class Locked(NamedTuple):
    """A timeline whose row is locked until the end of the transaction."""

    name: str
    id: int
    seq: int
    live: bool


def lock(names: Sequence[str]) -> list[Locked]:
    """Lock the timelines that exist; the names come sorted."""
    with cursor() as db:
        return [Locked(*row) for row in db.execute(_LOCK, {"names": texts(names)})]


def make_and_lock(names: Sequence[str]) -> list[Locked]:
    """Lock all of them, and create those that are missing; the names come sorted."""
    while True:
        create_missing(names)
        locked = lock(names)
        # One may have been deleted between the two statements.
        if len(locked) == len(names):
            return locked


def create_missing(names: Sequence[str]) -> None:
    with cursor() as db:
        db.execute(_MAKE, {"names": texts(names)})
