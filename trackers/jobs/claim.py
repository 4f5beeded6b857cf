"""Claims: which keys a worker gets next, all together, under one lease.

due buckets ─> the urgent and the oldest, locked ─> of equal strikes ─> in whole requests ─> Batch

Concurrent claims take different keys, and none waits for another.
"""

from __future__ import annotations

import logging
import secrets
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import timedelta

from trackers.jobs.batch import THE_HEAD, Batch, Low
from trackers.jobs.models import SUSPECT_STRIKES
from trackers.jobs.observed.models import QueueCounters
from trackers.jobs.tables import on, queue_statement
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

NO_DELAY = timedelta(0)
# Longer than any lease.
ALWAYS = timedelta(days=36_500)
# A claim that only clears away what stands before others looks again so many times; then other
# queues have their turn.
_MAX_ROUNDS = 20

CLAIM_BATCH = queue_statement(__file__, "claim")
_CLEAR_DEAD = queue_statement(__file__, "clear_dead")


def claim_batch(
    queue: str,
    *,
    low: Low = THE_HEAD,
    fewer_strikes_than: int | None = None,
    connected: timedelta = ALWAYS,
) -> Batch | None:
    """Claim a batch if one is ready; with `fewer_strikes_than`, only keys with fewer strikes.

    `connected`: for how long this process has not lost the database. Batches that were claimed
    before that get no strike: others may not have been able to save them either.
    """
    limits = {"limit": None, "buffer_ttl": None, "connected": connected}
    return _claim(queue, limits, low=low, fewer_strikes_than=fewer_strikes_than)


def get(namespace: str, limit: int = 1) -> Batch | None:
    """Claim up to `limit` keys that are due now, without waiting for more; None if none are.

    The claim lasts until `Batch.expires_at`; end it with `finish` or `release`. ValueError:
    `limit` is below 1. LookupError: there is no such queue.
    """
    if limit < 1:
        raise ValueError("A batch has at least one key.")
    return _claim(namespace, {"limit": limit, "buffer_ttl": NO_DELAY, "connected": ALWAYS})


def _claim(
    queue: str,
    limits: Mapping[str, object],
    *,
    low: Low = THE_HEAD,
    fewer_strikes_than: int | None = None,
) -> Batch | None:
    for _ in range(_MAX_ROUNDS):
        batch, cleared = _claim_once(queue, limits, low, fewer_strikes_than)
        if batch or not cleared:
            return batch
        with cursor() as db:
            db.execute(on(queue, _CLEAR_DEAD))
    return None


def _claim_once(
    queue: str, limits: Mapping[str, object], low: Low, fewer_strikes_than: int | None
) -> tuple[Batch | None, bool]:
    """A batch, if there is one; and whether the claim cleared away what stood before other keys."""
    # Random, not a sequence: after a crash of the database a sequence can hand out a number twice,
    # and a late save of the first holder would pass the fence.
    token = secrets.randbits(63)
    bounds = {"low": low.due, "low_urgent": low.urgent}
    query = on(queue, CLAIM_BATCH, fewer_strikes_than=fewer_strikes_than)
    with cursor() as db:
        row = db.execute(query, {**limits, **bounds, "queue": queue, "token": token}).fetchone()
    assert row is not None
    (
        keys, due_at, expires_at, now, lateness, taken, task, strikes, is_full, isolated,
        oldest, oldest_urgent, met_dead,
    ) = row  # fmt: skip
    if isolated:
        logger.warning(
            "%s: isolated %d keys whose fourth lease expired, the first is %d",
            queue,
            len(isolated),
            isolated[0],
        )
    if not keys:
        return None, bool(isolated or met_dead)
    # The keys that it passed over for their strikes may be anywhere from `low` on.
    next_low = low if fewer_strikes_than else Low(oldest, oldest_urgent or low.urgent)
    batch = Batch(
        lease=token,
        keys=tuple(keys),
        due_at=due_at,
        expires_at=expires_at,
        queue=queue,
        task=task,
        claimed_at=now,
        late=tuple(_count_by_lateness(lateness, taken)),
        is_full=is_full and strikes < SUSPECT_STRIKES,
        strikes=strikes,
        next_low=next_low,
    )
    return batch, False


def _count_by_lateness(lateness: Iterable[float], keys: Iterable[int]) -> list[int]:
    """How many keys fall in each class of lateness; the last class has no upper bound."""
    counts = [0] * (len(QueueCounters.LATENESS) + 1)
    for seconds, many in zip(lateness, keys, strict=True):
        counts[bisect_left(QueueCounters.LATENESS, seconds)] += many
    return counts


READY_IN = queue_statement(__file__, "ready_in")


def ready_in(queue: str, *, low: Low = THE_HEAD) -> float | None:
    """Seconds until a batch is ready, 0 or less: now; None: nothing waits, or it is paused."""
    with cursor() as db:
        row = db.execute(on(queue, READY_IN), {"queue": queue, "low": low.due}).fetchone()
    return None if row is None else row[0]
