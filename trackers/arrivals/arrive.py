"""Record arrivals in the transaction that stores them, but only of origins that somebody follows.

Locks: origins in the order of ids, after all tweets, then their jobs. The caller holds the lock on
the source's row, or on the author's (`describe` takes it). So does a new follow, so that each of
the two sees what the other did.
"""

from __future__ import annotations

from collections.abc import Iterable

from trackers.arrivals.models import TimelineDelivery
from trackers.jobs import queue
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

_DELIVER = TimelineDelivery.queue

# An origin's job keeps its place in line however often it is queued; otherwise a busy one would
# never have its turn. An arrival while it is claimed ends the claim, and makes it due again.
# Always a new stamp: the statement sees claims only as of its start, and a later claim may have
# read the arrivals without these.
_PUT_DELIVERY = """
    put AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT id, now(), %(stamp)s FROM waked ORDER BY id
        ON CONFLICT (key) DO UPDATE
        SET due_at = CASE WHEN {claimed} THEN now() ELSE least({job}.due_at, now()) END,
            stamp = excluded.stamp, strikes = 0
        RETURNING *
    )
    {into_buckets}
"""

_ARRIVE = statement(__file__, "arrive", put=_PUT_DELIVERY)

_WAKE = f"""
    WITH waked AS (SELECT id FROM trackers_origin WHERE id = ANY(%(origins)s::bigint[])),
    {_PUT_DELIVERY}
"""


def arrive(pairs: Iterable[tuple[int, int]], *, described: Iterable[int] = ()) -> None:
    """Record (source, tweet) pairs that are new, and tweets whose author has become known."""
    pairs = list(pairs)
    params = {
        "origins": array(source for source, _ in pairs),
        "tweets": array(tweet for _, tweet in pairs),
        "described": array(described),
        "stamp": queue.new_stamp(),
    }
    if not pairs and params["described"] == "{}":
        return
    with cursor() as db:
        db.execute(queue.on(_DELIVER, _ARRIVE), params)


def wake(origins: Iterable[int]) -> None:
    """Schedule these origins' delivery jobs without an arrival, as when they were removed."""
    with cursor() as db:
        params = {"origins": array(sorted(origins)), "stamp": queue.new_stamp()}
        db.execute(queue.on(_DELIVER, _WAKE), params)
