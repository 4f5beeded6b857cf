"""What had arrived when a page was read: the last number drawn, and a snapshot of the commits.

Numbers alone do not suffice: a lower one may be committed after a higher one (trackers.arrivals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tweetwatch.database import fetch_together

DatabaseRow = tuple[Any, ...]

# In this order: a transaction that drew this number or a lower one began before the snapshot.
NUMBER = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM trackers_arrival_number"
_SNAPSHOT = "SELECT pg_current_snapshot()::text"
CLOCK_QUERIES: tuple[tuple[str, dict[str, object]], ...] = ((NUMBER, {}), (_SNAPSHOT, {}))


@dataclass(frozen=True, slots=True)
class Moment:
    number: int
    snapshot: str


def now() -> str:
    """Call it before the page is read: what comes in between is then returned twice, rather than
    not at all."""
    return text_of(*fetch_together(*CLOCK_QUERIES))


def text_of(number: Sequence[DatabaseRow], snapshot: Sequence[DatabaseRow]) -> str:
    """`snapshot`: a row whose first column is the snapshot."""
    return f"{number[0][0]}/{snapshot[0][0]}"


def parse(text: str) -> Moment:
    number, _, snapshot = text.partition("/")
    xmin, _, rest = snapshot.partition(":")
    xmax, _, open_ = rest.partition(":")
    parts = [number, xmin, xmax, *filter(None, open_.split(","))]
    if not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise ValueError(f"{text[:80]!r} is not the clock of a page.")
    _, least, most, *between = map(int, parts)
    if not least <= most or any(not least <= one < most for one in between):
        raise ValueError(f"{text[:80]!r} is not the clock of a page.")
    return Moment(int(number), snapshot)
