"""The id after which the next poll reads, so that it skips nothing and reads little twice.

Posts appear only roughly in the order of their ids: one may appear up to k later than its id says.
So what was read is final only up to k before the request; but nothing further back than k before
the newest post has to be read again. After tesaguri's leaky-snowflake, with guards that it lacks.
"""

from __future__ import annotations

from datetime import timedelta

from trackers.tweets.snowflake import LOW_BITS, TWEPOCH_MS, first_id_at

_SEARCH_REACHES_BACK = timedelta(days=7)
MILLISECOND = timedelta(milliseconds=1)


def next_since_id(latest_id: int, retrieved_at_ms: int | None, *, k_ms: int) -> int:
    """The exclusive `since_id` of the next request.

    `latest_id`: the newest id read so far. `retrieved_at_ms`: when the last complete reading
    began, in Unix ms by X's clock; None if unknown, which only costs duplicates.
    `k_ms`: how much later than its id says a post may appear. A negative id or k is a ValueError.
    """
    if latest_id < 0 or k_ms < 0:
        raise ValueError(f"An id and k must be 0 or more, not {latest_id} and {k_ms} ms.")
    lower = _since_latest(latest_id, k_ms=k_ms)
    if retrieved_at_ms is None:
        return lower
    # One less, since `since_id` is exclusive; before the epoch this is -1, and `lower` is not.
    final = (max(0, retrieved_at_ms - k_ms - TWEPOCH_MS) << LOW_BITS) - 1
    return max(lower, min(final, latest_id))


def _since_latest(latest_id: int, *, k_ms: int) -> int:
    """The bound that needs no clock: k before the newest post, which cannot predate its own id.

    Ids within the first k ms, and older ones that hold no time, have nothing below to wait for.
    """
    since_epoch_ms = latest_id >> LOW_BITS
    if since_epoch_ms <= k_ms:
        return latest_id
    return ((since_epoch_ms - k_ms) << LOW_BITS) - 1


def search_floor(now_ms: int, margin: timedelta) -> int:
    """The oldest `since_id` that recent search takes, plus a margin for clock skew and latency.

    Without the margin it is the id that X itself names when it refuses an older one.
    """
    return first_id_at(now_ms - (_SEARCH_REACHES_BACK - margin) // MILLISECOND)
