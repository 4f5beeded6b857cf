"""The locks of timelines, which every writer takes first, in the order of their names.

A statement that waits for a lock sees of other tables what was there when it began. So where the
entries are looked at, the lock is a statement of its own, and the next ones, in the same
transaction, see all that earlier holders of it have committed.

Rows of names that are not there yet are made before the first lock: who waits for one that another
transaction has made, and not committed, holds nothing that anybody could wait for. One operation a
transaction is therefore free of deadlocks; several in one are, if their names ascend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trackers.timelines.entries import texts
from tweetwatch.database import cursor

# Order: that of the names, which come sorted; two who make the same ones wait for each other in it.
# A subquery with a value, since a join could be made by reading the whole table. Names that are
# there already take no number of the sequence.
MAKE = """
    INSERT INTO trackers_timeline (name)
    SELECT a.name FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
    WHERE (SELECT id FROM trackers_timeline WHERE name = a.name) IS NULL
    ORDER BY a.place
    ON CONFLICT (name) DO NOTHING
"""

# Lock: the rows of timelines, in the order of names. LATERAL: one after the other, each by its
# name. What comes back is as it is once the lock is ours.
LOCK = """
    SELECT a.name, t.id, t.seq, t.live
    FROM unnest(%(names)s::text[]) WITH ORDINALITY AS a(name, place)
    CROSS JOIN LATERAL (
        SELECT id, seq, live FROM trackers_timeline WHERE name = a.name FOR NO KEY UPDATE
    ) t
    ORDER BY a.place
"""


def often_in(ids: str) -> str:
    """How often the id of a timeline `t` is in a sorted array: those up to it, less those below. By
    halving, however long it is."""
    return f"(width_bucket(t.id, {ids}) - width_bucket(t.id - 1, {ids}))"


class Locked(NamedTuple):
    """A timeline whose row is locked until the end of the transaction."""

    name: str
    id: int
    seq: int
    live: bool


def lock(names: Sequence[str]) -> list[Locked]:
    """Those that are there; the names come sorted."""
    with cursor() as db:
        return [Locked(*row) for row in db.execute(LOCK, {"names": texts(names)})]


def make_and_lock(names: Sequence[str]) -> list[Locked]:
    """All of them, made where they are not there."""
    while True:
        make(names)
        found = lock(names)
        # One may have been forgotten between the two statements.
        if len(found) == len(names):
            return found


def make(names: Sequence[str]) -> None:
    with cursor() as db:
        db.execute(MAKE, {"names": texts(names)})
