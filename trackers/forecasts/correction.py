"""By how much forecasts were off: those of the last days against what happened. Pure.

Paces cool, X answers late, people request look-ups: what the walk leaves out hardly changes from
one day to the next.
"""

from __future__ import annotations

from collections.abc import Iterable

DAYS = 3
# A day on which everything stood still says nothing about the next one.
MIN_CORRECTION, MAX_CORRECTION = 0.5, 2.0


def correction(past: Iterable[tuple[float, float]]) -> float:
    """Actual over foreseen, from pairs (foreseen, actual); 1 while nothing is known."""
    pairs = [*past]
    foreseen, came = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    if foreseen <= 0 or came <= 0:
        return 1.0
    return min(max(came / foreseen, MIN_CORRECTION), MAX_CORRECTION)
