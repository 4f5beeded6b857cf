"""A curve as text, for where pictures do not go: ▁▂▃▅▇█. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDTH = 12


def in_blocks(points: Sequence[tuple[float, int]]) -> str:
    """`points`: seconds and values, in their order; each value holds until the next one. Steps are
    equal in time. Empty where nothing changes."""
    if not points:
        return ""
    times, values = [at for at, _ in points], [value for _, value in points]
    low, high = min(values), max(values)
    if low == high:
        return ""
    first, step = times[0], (times[-1] - times[0]) / (_WIDTH - 1)
    # The last one is exactly the last: the sum of steps might fall short of it.
    placed = [
        *(values[bisect_right(times, first + place * step) - 1] for place in range(_WIDTH - 1)),
        values[-1],
    ]
    return "".join(_BLOCKS[(value - low) * (len(_BLOCKS) - 1) // (high - low)] for value in placed)
