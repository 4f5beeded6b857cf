"""By how much forecasts were off, from those of the last days beside what came. Pure.

Paces cool, X answers late, people ask for looks: what the walk leaves out is much the same from one
day to the next.
"""

from __future__ import annotations

from collections.abc import Iterable

DAYS = 3
# A day on which everything stood still says nothing of the next.
LEAST, MOST = 0.5, 2.0


def correction(past: Iterable[tuple[float, float]]) -> float:
    """What came over what was foreseen, as pairs; 1 while nothing is known."""
    pairs = [*past]
    foreseen, came = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    if foreseen <= 0 or came <= 0:
        return 1.0
    return min(max(came / foreseen, LEAST), MOST)
