"""Ids of X and the time in them: 41 bits of milliseconds since X's epoch, then 22 bits to spare.

Ids from before 4 November 2010 were counted one by one: they carry no time and come before it.
"""

from __future__ import annotations

from datetime import UTC, datetime

TWEPOCH_MS = 1288834974657
LOW_BITS = 22
LARGEST_ID = 2**63 - 1


def ms_of(id: int) -> int:
    """When the id was made, in Unix ms; the epoch's first seconds for one that carries no time."""
    return (id >> LOW_BITS) + TWEPOCH_MS


def born_at(id: int) -> datetime:
    """When the id was made, to the millisecond."""
    return datetime.fromtimestamp(ms_of(id) / 1000, tz=UTC)


def first_id_at(unix_ms: int) -> int:
    """The lowest id of that millisecond; 0 for a time before the epoch, whose ids carry no time."""
    return min(max(0, unix_ms - TWEPOCH_MS) << LOW_BITS, LARGEST_ID)
