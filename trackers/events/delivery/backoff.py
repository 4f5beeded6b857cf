"""How long to wait after a delivery failed: pure functions.

Two waits apply together. The subscriber's gate (SETTLE) keeps back all its batches once its health
is nearly gone. The batch's own floor doubles with each attempt, so that until then a batch that
always fails is not sent at full speed.
"""

from __future__ import annotations

from datetime import timedelta

_FIRST = timedelta(milliseconds=500)
# A longer Retry-After of a subscriber is cut to this.
RETRY_AFTER_MOST = timedelta(hours=1)


def batch_floor(attempt: int, *, most: timedelta) -> timedelta:
    """How long a batch waits after this attempt, which counts from 1."""
    # 2^20 times half a second exceeds any bound.
    return min(most, _FIRST * 2 ** min(attempt - 1, 20))


def asked_for(retry_after: timedelta | None) -> timedelta | None:
    """The wait that the subscriber asked for by Retry-After, within bounds; None if none."""
    if retry_after is None:
        return None
    return min(max(retry_after, timedelta(0)), RETRY_AFTER_MOST)
