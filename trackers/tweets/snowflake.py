"""X's ids and the time in them: 41 bits of milliseconds since X's epoch, then 22 other bits.

Ids from before 4 November 2010 were sequential: they carry no time, and sort before all others.
"""

from __future__ import annotations

from datetime import UTC, datetime

TWEPOCH_MS = 1288834974657
LOW_BITS = 22
LARGEST_ID = 2**63 - 1


# The sequential ids end below 3 * 10**10; X's epoch and half a minute later, all are above this.
FIRST_WITH_TIME = 10**11


def has_time(id: int) -> bool:
    return id >= FIRST_WITH_TIME


def ms_of(id: int) -> int:
    """When the id was made, in Unix ms; soon after the epoch for an id that carries no time."""
    return (id >> LOW_BITS) + TWEPOCH_MS


def born_at(id: int) -> datetime:
    """When the id was made, to the millisecond; in SQL `trackers_born_at_v1`."""
    return datetime.fromtimestamp(ms_of(id) / 1000, tz=UTC)


def first_id_at(unix_ms: int) -> int:
    """The lowest id of that millisecond; 0 for a time before X's epoch."""
    return min(max(0, unix_ms - TWEPOCH_MS) << LOW_BITS, LARGEST_ID)
