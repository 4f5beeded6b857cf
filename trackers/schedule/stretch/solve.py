"""How much longer all adapting waits must be, so that all look-ups fit into the available room.

The tweets are groups of similar age and pace; a group that does not adapt has a wait of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trackers.schedule.adapt import Bounds, adapted_wait

# X's windows are a quarter of an hour long. Filled beyond this share, they make queues.
WINDOW_S = 900.0
MAX_WINDOW_FILL = 0.85
# A backlog is cleared in six hours, and takes no more than half of the room: a stretch that had to
# clear an import at once would postpone all tweets for weeks.
_BACKLOG_WINDOWS = 24
_BACKLOG_SHARE = 0.5
MAX_STRETCH = 1000.0
# The relative precision of a stretch.
STRETCH_PRECISION = 0.005


class Group(NamedTuple):
    """Tweets of about the same age (s) and pace (1/s); without bounds they wait `every` s."""

    tweets: float
    age: float
    pace: float
    bounds: Bounds | None
    every: float = 0.0


def lookups_due(groups: Sequence[Group], stretch: float) -> float:
    """Look-ups that fall due in a quarter of an hour."""
    lookups = 0.0
    for tweets, age, pace, bounds, every in groups:
        lookups += tweets / (adapted_wait(age, pace, bounds, stretch) if bounds else every)
    return WINDOW_S * lookups


def needed_stretch(groups: Sequence[Group], *, room: float, backlog: float) -> float:
    """The smallest stretch, 1 or more, with which all look-ups of a quarter hour fit into `room`.

    `backlog` tweets are overdue. 1,000 if no stretch is enough, since bounds limit it or all
    intervals are fixed.
    """
    room_left = MAX_WINDOW_FILL * room - min(backlog / _BACKLOG_WINDOWS, _BACKLOG_SHARE * room)
    if lookups_due(groups, 1.0) <= room_left:
        return 1.0
    low, high = 1.0, 2.0
    while high < MAX_STRETCH and lookups_due(groups, high) > room_left:
        low, high = high, high * 2
    if high >= MAX_STRETCH:
        return MAX_STRETCH
    while high / low > 1 + STRETCH_PRECISION:
        middle = (low * high) ** 0.5
        if lookups_due(groups, middle) > room_left:
            low = middle
        else:
            high = middle
    return high
