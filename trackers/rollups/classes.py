"""Histograms of counts, from which medians of large sets are taken. Pure.

A class spans a factor of e^(1/3), 1.4, so a median from it is right within 17 %. In SQL
`trackers_class_v1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, exp, floor, log

CLASSES = 64
_PER_E = 3


def class_of(count: int) -> int:
    return min(CLASSES - 1, floor(log(count + 1) * _PER_E))


def median_of(counts: Mapping[int, int]) -> float | None:
    """About the median, by how many are in each class; with two digits. None: there are none."""
    total = sum(counts.values())
    passed = 0
    for place in sorted(counts):
        if (passed + counts[place]) * 2 >= total > 0:
            # As if they were spread evenly over the counts of the class.
            share = (total / 2 - passed) / counts[place]
            first, last = _first_of(place), _first_of(place + 1) - 1
            return float(f"{first + (last - first) * share:.2g}")
        passed += counts[place]
    return None


def _first_of(place: int) -> int:
    return ceil(exp(place / _PER_E) - 1)
