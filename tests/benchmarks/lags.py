"""How late tweets were claimed, as the workers counted it in their counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.database import Database
from trackers.jobs.observed.models import QueueCounters

CLASSES = """
    SELECT place, sum(n::bigint)
    FROM trackers_queuecounters, jsonb_array_elements_text(late) WITH ORDINALITY AS counts(n, place)
    GROUP BY place ORDER BY place
"""


# A day stands for "later than the last class".
BOUNDS = (*QueueCounters.LATENESS, 86_400.0)


@dataclass(frozen=True, slots=True)
class Lags:
    """Counts in the classes of `QueueCounters.LATENESS`; the last is what was later than all."""

    counts: Sequence[int]

    @property
    def count(self) -> int:
        return sum(self.counts)

    def below(self, share: float) -> float | None:
        """The upper bound, in seconds, of the class in which this share is reached."""
        seen = 0
        for bound, number in zip(BOUNDS, self.counts, strict=True):
            seen += number
            if number and seen >= share * self.count:
                return bound
        return None

    def above(self, seconds: float) -> int:
        return sum(
            number for bound, number in zip(BOUNDS, self.counts, strict=True) if bound > seconds
        )


def lags_of_counters(database: Database) -> Lags:
    found = {int(place): int(number) for place, number in database.sql(CLASSES)}
    return Lags([found.get(place, 0) for place in range(1, len(BOUNDS) + 1)])
