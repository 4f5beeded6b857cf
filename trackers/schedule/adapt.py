"""When next, where an interval adapts: as soon as the metrics are expected to have moved enough.

wait = accuracy / (pace + 0.2 / age), no shorter than *at most every* and no longer than *at least
every*. The second term allows for a sudden wave; it keeps the wait of a quiet tweet below a quarter
of its age at an accuracy of 5%. Rule and measurements: `docs/how-often.md`. In SQL it is
`trackers_adapted_wait_v1` (migrations/0004_rules.sql), and tests keep the two equal.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

# Between 0.1 and 0.3 the errors hardly differ; a lower value looks up reviving tweets less often.
_ALLOWANCE = 0.2
# However little room there is, *at least every* grows no more than this.
MAX_AT_LEAST_STRETCH = 3.0


class Bounds(NamedTuple):
    """What a person wants of an interval."""

    accuracy: float  # miss no more than this (0.05 is 5%)
    at_most: float  # look up at most every so many seconds
    at_least: float  # look up at least every so many seconds


def bounds(
    accuracy: float | None, at_most: timedelta | None, at_least: timedelta | None
) -> Bounds | None:
    if accuracy is None or at_most is None or at_least is None:
        return None
    return Bounds(accuracy, at_most.total_seconds(), at_least.total_seconds())


# The defaults for a row that is first made to adapt, by age: *at most every* and *at least every*.
# Longer *at most* loses almost half of what adapting gains in the newest metrics; the last row's
# *at least* is where tweet-days are saved.
_ACCURACY = 0.05
_USUAL = (
    (timedelta(minutes=18), 20, 300),
    (timedelta(hours=1), 30, 900),
    (timedelta(days=1), 60, 3 * 3600),
    (timedelta(days=7), 300, 86400),
    (timedelta.max, 900, 4 * 86400),
)


def usual_bounds(younger_than: timedelta) -> Bounds:
    at_most, at_least = next(
        (at_most, at_least) for bound, at_most, at_least in _USUAL if younger_than <= bound
    )
    age = younger_than.total_seconds()
    return Bounds(_ACCURACY, min(at_most, age), min(at_least, age))


def adapted_wait(age: float, pace: float, bounds: Bounds, stretch: float = 1.0) -> float:
    """Seconds until the next look-up of a tweet `age` seconds old that grows by `pace` a second.

    `stretch`, 1 or more, lengthens all waits alike when there is no room for all look-ups.
    """
    accuracy, at_most, at_least = bounds
    wait = accuracy * stretch / (pace + _ALLOWANCE / (age if age > 1.0 else 1.0))
    if wait < at_most:
        return at_most
    at_least *= stretch if stretch < MAX_AT_LEAST_STRETCH else MAX_AT_LEAST_STRETCH
    return wait if wait < at_least else at_least
