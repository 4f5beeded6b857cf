"""When next, where money is short: X bills a tweet once a UTC day, however often it is looked at.

A new day is begun only when it is worth it, so a wait that ends on another day is stretched. And a
day that is paid for is closed by a last look, which costs nothing: the next one may be days away.
"""

from __future__ import annotations

DAY_S = 86400.0
# Looks that wait for a new day, and those that close one, are spread over half an hour each.
SPREAD_S = 1800.0
# A day is closed when at least this share of the wait is left of it.
WORTH_CLOSING = 0.2


def across_days(now: float, wait: float, *, day_stretch: float, chance: float) -> float:
    """Seconds until the next look of a tweet that was looked at `now` (Unix time, s).

    `wait` is what the rule says. `day_stretch`, 1 or more, lengthens it if it ends on another day.
    `chance` (0 to 1) is the tweet's place in the half hours.
    """
    left = DAY_S - now % DAY_S
    if wait < left:
        return wait
    closing = left - SPREAD_S * (1 - chance)
    if closing >= WORTH_CLOSING * wait and closing > 0:
        return closing
    # Never just after midnight, when all those arrive that waited for the new day.
    return max(wait * day_stretch, left + SPREAD_S * chance)
