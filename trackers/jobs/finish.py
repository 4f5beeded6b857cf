"""How a claim ends: given back, put off, or finished, for all of its keys or for some.

A late worker changes nothing: its buckets have another lease, or its keys another stamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from trackers.jobs.batch import Batch
from trackers.jobs.claim import NO_DELAY
from trackers.jobs.tables import keys_of, new_stamp, on, queue_statement
from tweetwatch.database import cursor

_CUT = queue_statement(__file__, "_cut")


def _give_back_ctes(*, due: str, due_since: str) -> str:
    """The CTEs that give a claim's buckets back, due and counted as due since these expressions."""
    return queue_statement(__file__, "_go_back", due=due, due_since=due_since)


# In its place in line, which the oldest of the batch had. An urgent one was due much later.
_PLACE_IN_LINE = "CASE WHEN urgent THEN now() ELSE %(due_at)s::timestamptz END"
_RELEASE_IN_PLACE = f"""
    WITH {_CUT},
    {_give_back_ctes(due=_PLACE_IN_LINE, due_since="cut.due_since")}
    SELECT key FROM ours
"""

_DUE_SINCE = "CASE WHEN NOT %(anew)s THEN cut.due_since END"
_RELEASE = f"""
    WITH {_CUT},
    {_give_back_ctes(due="now() + %(delay)s", due_since=_DUE_SINCE)},
    moved AS (
        UPDATE {{job}} SET due_at = now() + %(delay)s
        WHERE ctid = ANY(ARRAY(SELECT place FROM ours))
    )
    SELECT key FROM ours
"""

_FINISH = queue_statement(__file__, "finish", cut=_CUT)


def release(batch: Batch, delay: timedelta = NO_DELAY, *, anew: bool = False) -> set[int]:
    """Give the batch back, due after `delay`, without a strike; return the keys still ours.

    `anew`: they count as due only from then on. Otherwise they are late since they were first due,
    and the figures say so.
    """
    if not batch.keys:
        return set()
    with cursor() as db:
        db.execute(
            on(batch.queue, _RELEASE),
            {"keys": list(batch.keys), "lease": batch.lease, "delay": delay, "anew": anew},
        )
        return set(keys_of(db))


def release_in_place(batch: Batch) -> set[int]:
    """Give the batch back where it stood in line; return the keys still ours."""
    if not batch.keys:
        return set()
    with cursor() as db:
        db.execute(
            on(batch.queue, _RELEASE_IN_PLACE),
            {"keys": list(batch.keys), "lease": batch.lease, "due_at": batch.due_at},
        )
        return set(keys_of(db))


def finish(batch: Batch, next: Mapping[int, timedelta]) -> set[int]:
    """Move the keys in `next` to that long from now, and remove the others.

    Returns the keys that were still ours: those not moved, removed or claimed by others since.
    """
    moved = [key for key in batch.keys if key in next]
    with cursor() as db:
        db.execute(
            on(batch.queue, _FINISH),
            {
                "lease": batch.lease,
                "stamp": new_stamp(),
                "moved": moved,
                "delays": [next[key] for key in moved],
                "keys": list(batch.keys),
            },
        )
        return set(keys_of(db))
