"""Batches become ready, are claimed under a lease, and can be given back unsent.

Many processes do this at once, on any hosts; each takes what no other has locked.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tweetwatch.database import cursor
from tweetwatch.statements import statement

_MOST_PROMOTED = 5000

# The time comes from a SELECT of its own, or it would not be an index condition. ctid: a row that
# the same statement has locked does not move, and the planner can only fetch it.
_PROMOTE = """
    UPDATE trackers_eventbatch SET state = 'ready', is_current = false
    WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_eventbatch
        WHERE state = 'early' AND deadline <= (SELECT clock_timestamp())
        ORDER BY deadline LIMIT %(most)s FOR UPDATE SKIP LOCKED))
"""

_CLAIM_BATCHES = statement(__file__, "claim")

# The fence: batches that still carry the lease they were claimed with. Nothing was sent, so it does
# not count as an attempt.
# Locks: in the order of ids, as everywhere. ctid: as above.
_GIVE_BACK = """
    UPDATE trackers_eventbatch
    SET state = 'ready', lease = NULL, leased_until = NULL, attempts = attempts - 1
    WHERE ctid = ANY(ARRAY(
        SELECT b.ctid
        FROM (
            SELECT * FROM unnest(%(ids)s::bigint[], %(leases)s::bigint[]) AS given(id, lease)
            ORDER BY id
        ) given CROSS JOIN LATERAL (
            SELECT ctid FROM trackers_eventbatch
            WHERE id = given.id AND lease = given.lease FOR UPDATE
        ) b))
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed batch."""

    id: int
    lease: int
    uid: UUID
    subscriber_id: int
    events: list[int]
    attempt: int  # from 1
    first_at: datetime
    last_at: datetime
    kind: str = "events"  # of EventBatch.Kind


def promote() -> int:
    """Make early batches ready when their time has come; return how many."""
    with cursor() as db:
        return db.execute(_PROMOTE, {"most": _MOST_PROMOTED}).rowcount


def claim_batches(slots: int, lease: timedelta) -> list[Claimed]:
    """Claim ready batches for this many free slots; the lease must outlast a delivery."""
    token = secrets.randbits(63)
    with cursor() as db:
        rows = db.execute(_CLAIM_BATCHES, {"slots": slots, "lease": token, "for": lease}).fetchall()
    return [Claimed(id, token, *rest) for id, *rest in rows]


def give_back(claimed: Sequence[Claimed]) -> int:
    """Make these batches, of which nothing was sent, ready again; return how many."""
    params = {"ids": [one.id for one in claimed], "leases": [one.lease for one in claimed]}
    with cursor() as db:
        return db.execute(_GIVE_BACK, params).rowcount
