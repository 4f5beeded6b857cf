"""How deliveries end: delivered, failed, or lost.

One statement settles many batches, fenced by their leases: a late result changes nothing, and only
shows in the log of attempts. So a batch may arrive twice, but is counted once.

A batch that is refused for what it contains, while others are delivered, costs its subscriber no
health, and gates nothing. One of several events is divided into batches of one, and what is refused
by itself so often that nothing else explains it is set aside (settle.sql).

After a failure two waits apply together. The subscriber's gate (settle.sql) keeps back all its
batches once its health is nearly gone. The batch's own floor doubles with each attempt, so that
until then a batch that always fails is not sent at full speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.events.delivery.call import RETRY_AFTER_MOST
from trackers.events.delivery.claim import Claimed
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_FIRST = timedelta(milliseconds=500)


def _batch_floor(attempt: int, *, most: timedelta) -> timedelta:
    """How long a batch waits after this attempt, which counts from 1."""
    # 2^20 times half a second exceeds any bound.
    return min(most, _FIRST * 2 ** min(attempt - 1, 20))


def _asked_for(retry_after: timedelta | None) -> timedelta | None:
    """The wait that the subscriber asked for by Retry-After, within bounds; None if none."""
    if retry_after is None:
        return None
    return min(max(retry_after, timedelta(0)), RETRY_AFTER_MOST)


# By these answers a receiver can refuse what a batch contains. All others are about the receiver.
_ABOUT_CONTENT = frozenset((400, 413, 415, 422))
_THROTTLED = 429
# Refusals after which a batch of several events is divided, and one of a single event is set aside.
_REFUSALS_UNTIL_DIVIDED = 3
REFUSALS_UNTIL_SET_ASIDE = 8

# Longer ones are cut.
_MOST_ERROR, MOST_ANSWER = 300, 1024

_SETTLE = statement(__file__, "settle")

_RECOVER = statement(__file__, "recover")
_MOST_LOST = 1000
_WAIT_AFTER_LOSS = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of sending a batch."""

    batch: Claimed
    delivered: bool
    took: timedelta
    status: int | None = None  # that of the answer; None: there was none
    error: str = ""
    answer: str = ""
    retry_after: timedelta | None = None

    @property
    def may_refuse_content(self) -> bool:
        return self.status in _ABOUT_CONTENT and self.batch.kind == "events"

    @property
    def is_throttled(self) -> bool:
        """It says when it takes more: that is no failure."""
        return self.status == _THROTTLED and self.retry_after is not None


def settle_deliveries(ended: Sequence[Outcome], *, most: timedelta) -> frozenset[int]:
    """Count and log the deliveries; return the ids of batches whose lease was still valid.

    `most`: the longest wait between two attempts, unless a subscriber asks for a longer one.
    """
    if not ended:
        return frozenset()
    batches = [one.batch for one in ended]
    params = {
        "ids": [batch.id for batch in batches],
        "leases": [batch.lease for batch in batches],
        "subscribers": [batch.subscriber_id for batch in batches],
        "numbers": [batch.attempt for batch in batches],
        "uids": [batch.uid for batch in batches],
        "delivered": [one.delivered for one in ended],
        "took": [round(one.took.total_seconds() * 1000) for one in ended],
        "statuses": [one.status for one in ended],
        "errors": [one.error[:_MOST_ERROR] for one in ended],
        "answers": [one.answer.replace("\0", "")[:MOST_ANSWER] for one in ended],
        "waits": [_batch_floor(batch.attempt, most=most) for batch in batches],
        "asked": [_asked_for(one.retry_after) for one in ended],
        "refused": [one.may_refuse_content for one in ended],
        "throttled": [one.is_throttled for one in ended],
        "kinds": [batch.kind for batch in batches],
        "divided_at": _REFUSALS_UNTIL_DIVIDED,
        "aside_at": REFUSALS_UNTIL_SET_ASIDE,
        "most": most,
    }
    with cursor() as db:
        row = db.execute(_SETTLE, params).fetchone()
    return frozenset(row[0] or ()) if row else frozenset()


def recover() -> int:
    """Take back the batches whose lease has run out; return how many."""
    with cursor() as db:
        row = db.execute(_RECOVER, {"most": _MOST_LOST, "wait": _WAIT_AFTER_LOSS}).fetchone()
    return int(row[0]) if row else 0
