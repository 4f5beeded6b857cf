"""When next, where money is short: X bills a tweet once a UTC day, however often it is looked at.

A new day is begun only when it is worth the money, so a wait that ends on another day is stretched.
And a paid day ends with a last look-up, which costs nothing: the next one may be days away. In SQL
the rule is `trackers_across_days_v1` (migrations/0004_rules.sql), and tests keep the two equal.
"""

from __future__ import annotations

DAY_S = 86400.0
# Look-ups that wait for a new day are spread over half an hour, and so are those that close one.
SPREAD_S = 1800.0
# A look-up due this close to midnight may be made after it: it may have to wait for a worker,
# and X's clock is not ours.
LATE_S = 300.0
# A last look-up closes the day if at least this share of the wait is left of the day.
_WORTH_CLOSING = 0.2


def across_days(
    now: float, wait: float, *, day_stretch: float, longest: float, chance: float
) -> float:
    """Seconds until the next look-up of a tweet that was looked at `now` (Unix time, s).

    `wait` is what the rule says, with its jitter. If it ends on another day it is multiplied by
    `day_stretch`, 1 or more, up to `longest`. `chance` (0 to 1) is the tweet's place in the half
    hours; a shorter wait is spread over less time, so that the tweet is not unobserved for long.
    """
    left = DAY_S - now % DAY_S
    if wait + min(LATE_S, wait / 2) < left:
        return wait
    closing = left - LATE_S - SPREAD_S * (1 - chance)
    if closing >= _WORTH_CLOSING * wait:
        return closing
    # Never just after midnight, when all the look-ups come that waited for the new day.
    return max(wait, min(wait * day_stretch, longest), left + min(SPREAD_S, wait / 2) * chance)
