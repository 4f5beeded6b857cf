"""How fast a tweet's metrics grow: its pace, from two measurements and the earlier pace.

A pace is the share by which the metrics grow in a second: 0.01 is one percent a second. It is the
mean over views, likes and retweets, with ten added to each, since a step from 0 to 1 like means
little. A pace falls as a tweet ages, so the earlier one is converted to the present age before the
two are averaged. The rule, and measurements of it: `docs/how-often.md`. In SQL it is
`trackers_pace_v1` (migrations/0004_rules.sql), and tests keep the two equal.
"""

from __future__ import annotations

from math import isfinite, log, sqrt

# Views, likes, retweets; None if X gives no value.
Counts = tuple[int | None, int | None, int | None]
ZERO_COUNTS: Counts = (0, 0, 0)

_ADDED = 10
# The share of the newest measurement in the average.
_SMOOTHING = 0.4
# If a tweet is first measured at this age or later, its counts are not taken for growth. Before
# that, its creation counts as a measurement: everything was 0.
_STRANGER_FROM_S = 300.0
# Growth within fewer seconds is mostly chance, and X's counters are updated in steps.
_TOO_SOON_S = 5.0
# The growth since the last measurement belongs to an age between the two: their geometric mean,
# with the earlier one taken as at least this share of the later.
_EARLIEST_SHARE = 0.3
# Growth below this counts as none. A quiet average shrinks with each look-up, and more over a hole;
# below the column's 1e-45, PostgreSQL refuses the value, and with it the whole save.
_MIN_PACE = 1e-15


def pace(
    age: float, last_age: float | None, before: Counts, after: Counts, last: float | None
) -> float:
    """The pace (1/s) of a tweet measured when `age` seconds old; never negative, always finite.

    `last_age` and `last`: its age and its pace at the measurement before; None without one. An age
    below a second, as differing clocks show, counts as a second. `last` that is negative or not
    finite is unknown.
    """
    if last_age is None:
        age = max(age, 1.0)
        if age > _STRANGER_FROM_S:
            return strangers_pace(age)
        seen = growth(ZERO_COUNTS, after)
        # The geometric mean of the ages, over the age, as below with `last_age` 0.
        return (
            strangers_pace(age)
            if seen is None
            else max(seen * sqrt(_EARLIEST_SHARE) / age, _MIN_PACE)
        )
    gap = age - last_age
    age, since = max(age, 1.0), max(last_age, 1.0)
    # `not >= 0`: NaN is unknown as well.
    if last is None or not last >= 0 or not isfinite(last):
        last = None
    else:
        last *= since / max(age, since)
    seen = growth(before, after) if gap >= _TOO_SOON_S else None
    if seen is None:
        return strangers_pace(age) if last is None else max(last, _MIN_PACE)
    if since < _EARLIEST_SHARE * age:
        since = _EARLIEST_SHARE * age
    newest = seen / gap * sqrt(since / age)
    return max(newest if last is None else _SMOOTHING * newest + (1 - _SMOOTHING) * last, _MIN_PACE)


def strangers_pace(age: float) -> float:
    """The pace of a tweet never measured: that of most tweets of its age (s)."""
    return 1 / (1 + age / 3600) / age


def growth(before: Counts, after: Counts) -> float | None:
    """The mean of |ln(after / before)|, where both are known; a fall is movement too."""
    # One logarithm of the product: a third of the time of three.
    views, likes, retweets = after
    old_views, old_likes, old_retweets = before
    ratio, known = 1.0, 0
    if views is not None and old_views is not None:
        known = 1
        if views != old_views:
            ratio = (views + _ADDED) / (old_views + _ADDED)
            if views < old_views:
                ratio = 1 / ratio
    if likes is not None and old_likes is not None:
        known += 1
        if likes > old_likes:
            ratio *= (likes + _ADDED) / (old_likes + _ADDED)
        elif likes < old_likes:
            ratio *= (old_likes + _ADDED) / (likes + _ADDED)
    if retweets is not None and old_retweets is not None:
        known += 1
        if retweets > old_retweets:
            ratio *= (retweets + _ADDED) / (old_retweets + _ADDED)
        elif retweets < old_retweets:
            ratio *= (old_retweets + _ADDED) / (retweets + _ADDED)
    return log(ratio) / known if known else None
