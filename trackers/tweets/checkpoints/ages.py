"""The ages at which tweets are compared. Pure.

Up to 30 days: as people ask for them ("after an hour, a day, a week"), never further apart than a
factor of 2.4. A place is that of an age in AGES, from 1.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import timedelta

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

AGES = (
    *(minutes * _MINUTE for minutes in (5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 3, 4, 6, 9, 12, 18)),
    *(days * _DAY for days in (1, 2, 3, 7, 14, 30)),
)
AGES_S = tuple(age.total_seconds() for age in AGES)
# An age is enclosed by two measurements if the earlier one was made at half of it or later, and the
# later one at twice of it or earlier.
MAX_FACTOR = 2
# Those at which sets of tweets are summed up (`rollups`), as their columns are called.
ROLLUP_AGES = {"1h": _HOUR, "24h": 24 * _HOUR, "7d": 7 * _DAY}


def place_of(age: timedelta) -> int:
    """The place of the highest of AGES that is not above `age`; 0 before the first."""
    return bisect_right(AGES, age)


def is_enclosed(reached: timedelta, *, before: timedelta, after: timedelta) -> bool:
    """Whether measurements at these two ages say what the metrics were at a third."""
    is_between = before < reached <= after
    return is_between and before * MAX_FACTOR >= reached and after <= reached * MAX_FACTOR


def count_between(
    reached: timedelta, *, before: tuple[timedelta, int | None], after: tuple[timedelta, int | None]
) -> int | None:
    """The count at an age, in a straight line between two measurements; None: one is unknown."""
    (early, low), (late, high) = before, after
    if low is None or high is None:
        return None
    return round(low + (high - low) * ((reached - early) / (late - early)))
