"""How much later tweets must begin a new paid day, so that tweet-days fit into the budgets.

Groups of tweets of similar age and pace ─> tweet-days a day at a stretch ─> the least that suffices
"""

from __future__ import annotations

from collections.abc import Sequence

from trackers.schedule.adapt import MAX_AT_LEAST_STRETCH, adapted_wait
from trackers.schedule.paid_days import DAY_S, across_days
from trackers.schedule.stretch.solve import STRETCH_PRECISION, Group

# More than this hardly saves anything: *at least every* grows by three times at most. Any further
# shortage is left to rationing, which keeps the young fresh.
MAX_DAY_STRETCH = 100.0
# Plan this share more than the budgets allow: an estimate that is too high would otherwise leave
# money unspent. What turns out too much waits, the oldest first (`updater.ration`).
MARGIN = 0.05
# A day's first look-up comes at any time, and waits vary with jitter and age. So the mean is taken
# over times of day, places in the half hours, and waits around the group's.
_TIMES = tuple(
    ((0.5 + place) / 16, (0.5 + 5 * place % 16) / 16, 0.8 + 0.4 * (0.5 + 11 * place % 16) / 16)
    for place in range(16)
)


def tweet_days(groups: Sequence[Group], day_stretch: float, *, stretch: float = 1.0) -> float:
    """Tweet-days a day that these tweets take, all of them looked at before."""
    total = 0.0
    for tweets, age, pace, bounds, every in groups:
        if bounds is None:
            total += tweets * min(1.0, DAY_S / every)
            continue
        wait = adapted_wait(age, pace, bounds, stretch)
        if day_stretch > 1:
            longest = bounds.at_least * MAX_AT_LEAST_STRETCH
            total += tweets / _days_between(wait, day_stretch=day_stretch, longest=longest)
        else:
            total += tweets * min(1.0, DAY_S / wait)
    return total


def _days_between(wait: float, *, day_stretch: float, longest: float) -> float:
    """The mean number of days from one paid day to the next."""
    days = 0
    for time, chance, share in _TIMES:
        days += _days_until_next(
            DAY_S * time,
            wait * share,
            day_stretch=day_stretch,
            longest=max(longest, wait * share),
            chance=chance,
        )
    return days / len(_TIMES)


def _days_until_next(
    now: float, wait: float, *, day_stretch: float, longest: float, chance: float
) -> int:
    """Days from one first looked up at `now` (s since midnight) to the next with a look-up."""
    # The look-ups in the middle of the day are all alike.
    now += wait * max(0, int((DAY_S - now) / wait) - 2)
    while now < DAY_S:
        now += across_days(now, wait, day_stretch=day_stretch, longest=longest, chance=chance)
    return int(now // DAY_S)


def needed_day_stretch(
    groups: Sequence[Group], *, allowed: float, arrivals: float, stretch: float = 1.0
) -> float:
    """The smallest stretch, 1 or more, with which tweet-days fit into `allowed` a day.

    `arrivals`: new tweets a day, each of which costs a tweet-day that no stretch can save.
    `stretch`: that of the windows, which lengthens the waits first.
    """
    if tweet_days(groups, 1.0, stretch=stretch) + arrivals <= allowed:
        return 1.0
    left = allowed * (1 + MARGIN) - arrivals
    low, high = 1.0, MAX_DAY_STRETCH
    if tweet_days(groups, high, stretch=stretch) > left:
        return MAX_DAY_STRETCH
    while high / low > 1 + STRETCH_PRECISION:
        middle = (low * high) ** 0.5
        if tweet_days(groups, middle, stretch=stretch) > left:
            low = middle
        else:
            high = middle
    return high
