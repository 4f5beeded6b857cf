"""When next, where money is short: X bills a tweet once a UTC day, however often it is looked at.

A new day is begun only when it is worth it, so a wait that ends on another day is stretched. And a
day that is paid for is closed by a last look, which costs nothing: the next one may be days away.
"""

from __future__ import annotations

DAY_S = 86400.0
# Looks that wait for a new day, and those that close one, are spread over half an hour each.
SPREAD_S = 1800.0
# A look that is due later than this may be made after midnight: it may have to wait for a worker,
# and X's clock is not ours.
LATE_S = 300.0
# A day is closed when at least this share of the wait is left of it.
WORTH_CLOSING = 0.2


def across_days(
    now: float, wait: float, *, day_stretch: float, longest: float, chance: float
) -> float:
    """Seconds until the next look of a tweet that was looked at `now` (Unix time, s).

    `wait` is what the rule says, with its jitter. If it ends on another day it is multiplied by
    `day_stretch`, 1 or more, up to `longest`. `chance` (0 to 1) is the tweet's place in the half
    hours; a tweet that waits for less is spread over less, so that it is not blind for long.
    """
    left = DAY_S - now % DAY_S
    if wait + min(LATE_S, wait / 2) < left:
        return wait
    closing = left - LATE_S - SPREAD_S * (1 - chance)
    if closing >= WORTH_CLOSING * wait:
        return closing
    # Never just after midnight, when all those arrive that waited for the new day.
    return max(wait, min(wait * day_stretch, longest), left + min(SPREAD_S, wait / 2) * chance)


# The same rule in SQL, as an expression: {left} is what is left of the day, in seconds. Tests hold
# the two together.
CLOSING = f"({{left}} - {LATE_S} - {SPREAD_S} * (1 - {{chance}}))"
ACROSS_DAYS = f"""(CASE
    WHEN {{wait}} + least({LATE_S}, {{wait}} / 2) < {{left}} THEN {{wait}}
    WHEN {CLOSING} >= {WORTH_CLOSING} * {{wait}} THEN {CLOSING}
    ELSE greatest({{wait}}, least({{wait}} * {{day_stretch}}, {{longest}}),
                  {{left}} + least({SPREAD_S}, {{wait}} / 2) * {{chance}})
END)"""
# What is left of the UTC day at an instant.
LEFT = "(86400 - extract(epoch FROM ({at} AT TIME ZONE 'UTC')::time)::float8)"
