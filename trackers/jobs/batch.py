"""What a claim hands out, and where the next one begins to look."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

# A time, not Postgres' -infinity: the server would prepare each statement twice, for both types.
FROM_THE_HEAD = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Low:
    """Where a claim begins to look in each index: past what earlier claims left dead there."""

    due: datetime = FROM_THE_HEAD
    urgent: datetime = FROM_THE_HEAD


THE_HEAD = Low()


@dataclass(frozen=True, slots=True)
class Batch:
    """Keys claimed together, in ascending order, by one lease; all with the same `strikes`.

    `due_at` is when the oldest of them was due. `late` counts the keys by lateness, in the classes
    of `Tally.LATENESS`. `is_full`: as many as may go together, there may be as many again.
    `next_low`: nothing that this claim saw and left is before it.
    """

    lease: int
    keys: tuple[int, ...]
    due_at: datetime
    expires_at: datetime
    namespace: str = ""
    task: str = ""
    claimed_at: datetime | None = None
    late: tuple[int, ...] = field(default=(), repr=False)
    is_full: bool = False
    strikes: int = 0
    next_low: Low = field(default=THE_HEAD, repr=False)
