"""What a claim hands out, and where the next one starts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

# A datetime, not '-infinity': with two parameter types each statement would be prepared twice.
FROM_THE_HEAD = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Low:
    """Where a claim starts in each index: past the dead rows that earlier claims left there."""

    due: datetime = FROM_THE_HEAD
    urgent: datetime = FROM_THE_HEAD


THE_HEAD = Low()


@dataclass(frozen=True, slots=True)
class Batch:
    """Keys claimed together under one lease, in ascending order."""

    lease: int
    keys: tuple[int, ...]
    due_at: datetime  # when the oldest of them was due
    expires_at: datetime
    queue: str = ""
    task: str = ""
    claimed_at: datetime | None = None
    # How many keys by the classes of `QueueCounters.LATENESS`.
    late: tuple[int, ...] = field(default=(), repr=False)
    is_full: bool = False  # as large as a batch may be, so more keys may be due
    strikes: int = 0  # all have the same
    # Where the next claim may start; nothing that this one saw and left is before it.
    next_low: Low = field(default=THE_HEAD, repr=False)

    def only(self, keys: Collection[int]) -> Batch:
        """The batch with those of its keys that are among these."""
        those = frozenset(keys)
        return replace(self, keys=tuple(key for key in self.keys if key in those))

    def without(self, keys: Collection[int]) -> Batch:
        """The batch with its other keys."""
        those = frozenset(keys)
        return replace(self, keys=tuple(key for key in self.keys if key not in those))
