"""In which order sets are listed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import nsmallest

from trackers.sets.leaderboards.count import SetRow

# Those of a metric; the others are the same whatever the metric.
BY_METRIC = ("total", "median", "change")
ORDERS = ("total", "posts", "median", "rate", "above", "change")
# Where there was less before, twice as much says nothing.
_LEAST_BEFORE = 100


def change_of(row: SetRow, metric: str) -> float | None:
    """By how much its total differs from that of the period before, as a share."""
    total, before = row.totals[metric], row.before[metric]
    if total is None or before is None or before < _LEAST_BEFORE:
        return None
    return total / before - 1


def ranked(rows: Iterable[SetRow], *, by: str, metric: str, most: int) -> list[SetRow]:
    """`by`: of ORDERS. Those without this figure come last, by their posts."""
    figure = _FIGURE_OF[by]

    def place(row: SetRow) -> tuple[bool, float, int, str]:
        value = figure(row, metric)
        return value is None, -(value or 0), -row.posts, row.key

    return nsmallest(most, rows, key=place)


_FIGURE_OF: dict[str, Callable[[SetRow, str], float | None]] = {
    "total": lambda row, metric: row.totals[metric],
    "posts": lambda row, metric: row.posts,
    "median": lambda row, metric: row.medians[metric],
    "rate": lambda row, metric: row.rate,
    "above": lambda row, metric: row.above,
    "change": change_of,
}
