"""At which ages a tweet was looked at: by the default intervals, or every minute for a week.

In each three looks the last two showed the same: a sample of one look, then one of two. So there
are some fifty samples of a tweet in its 30 days, as the bar of the issue has it.
"""

from __future__ import annotations

import math
from itertools import accumulate, repeat
from typing import Any

MINUTE, HOUR, DAY = 60, 3600, 86400
# (how many looks, how far from each other)
DEFAULT = ((18, MINUTE), (8, 5 * MINUTE), (23, HOUR), (24, 6 * HOUR), (23, DAY))
LONG_SAMPLES = 10_000
# Just older than its last look.
LONG_AGE_MS = (LONG_SAMPLES * MINUTE + 30) * 1000
# Most views come within the first day.
GROWS_FOR = DAY / 3


def usual() -> dict[str, Any]:
    ages = list(accumulate(step for count, every in DEFAULT for step in repeat(every, count)))
    begun, ended, looks = [], [], []
    for place in range(0, len(ages) - 2, 3):
        one, two, three = ages[place : place + 3]
        begun += [one, two]
        ended += [one, three]
        looks += [1, 2]
    return given(begun, ended, looks)


def long() -> dict[str, Any]:
    begun = [MINUTE * n for n in range(1, LONG_SAMPLES + 1)]
    return given(begun, begun, [1] * LONG_SAMPLES)


def given(begun: list[int], ended: list[int], looks: list[int]) -> dict[str, Any]:
    return {
        "begun": [float(age) for age in begun],
        "ended": [float(age) for age in ended],
        "looks": looks,
        "share": [1 - math.exp(-age / GROWS_FOR) for age in begun],
    }
