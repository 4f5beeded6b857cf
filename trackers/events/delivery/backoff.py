"""How long to wait after a delivery failed: pure choices.

Two bounds hold together. The subscriber's gate (SETTLE) keeps all its batches back once its health
is nearly gone. The floor of the batch doubles with each attempt, so that one that always fails is
not sent at full speed until then.
"""

from __future__ import annotations

from datetime import timedelta

FIRST = timedelta(milliseconds=500)
# What a subscriber asks for beyond this is cut.
RETRY_AFTER_MOST = timedelta(hours=1)


def batch_floor(attempt: int, *, most: timedelta) -> timedelta:
    """What a batch waits after its attempt of this number, which counts from 1."""
    # Beyond 2^20 times half a second any bound is met.
    return min(most, FIRST * 2 ** min(attempt - 1, 20))


def asked_for(retry_after: timedelta | None) -> timedelta | None:
    """What the subscriber asked for by Retry-After, within bounds; None: nothing."""
    if retry_after is None:
        return None
    return min(max(retry_after, timedelta(0)), RETRY_AFTER_MOST)
