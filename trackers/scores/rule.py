"""How far a tweet is from what is usual: the rules, as CrowdTangle defined them. Pure.

A benchmark is the mean of the middle half of earlier posts' counts at the same age; what is
expected in between is on a straight line of logarithms; the score is actual ÷ expected. SQL twins
are `trackers_expected_v1` and `trackers_score_v1`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import timedelta
from math import exp, log

from trackers.tweets.checkpoints.ages import AGES

# Fewer posts are no benchmark; more than so many of the newest are not looked at.
MIN_POSTS, MAX_POSTS = 10, 100
# Below this nothing is expected enough to be divided by: 9 likes where 2 are usual are not a lot.
MINIMUMS = {
    "retweets": 10, "replies": 10, "likes": 10, "quotes": 10, "bookmarks": 10, "views": 100,
}  # fmt: skip
# A score between these says nothing.
AS_USUAL = (-1.2, 1.2)


def middle_mean(counts: Iterable[int]) -> float | None:
    """The mean of the middle half: a quarter of the counts, rounded down, is left out at either
    end. None: there are fewer than MIN_POSTS."""
    ordered = sorted(counts)
    if len(ordered) < MIN_POSTS:
        return None
    quarter = len(ordered) // 4
    middle = ordered[quarter : len(ordered) - quarter]
    return sum(middle) / len(middle)


def never_falling(by_age: Sequence[float | None]) -> list[float | None]:
    """The same, each at least as high as the ones before: what is usual never falls with age."""
    highest = 0.0
    risen: list[float | None] = []
    for value in by_age:
        highest = max(highest, value or 0)
        risen.append(None if value is None else highest)
    return risen


def expected_at(age: timedelta, by_age: Sequence[float | None]) -> float | None:
    """What is expected at any age, by what is expected at each of AGES; None: not known.

    After the last of them it is what is expected at the last.
    """
    place = bisect_right(AGES, age)
    if place == 0:
        return None
    before = by_age[place - 1]
    if place == len(AGES) or age == AGES[place - 1] or before is None:
        return before
    after = by_age[place]
    if after is None:
        return None
    share = log(age / AGES[place - 1]) / log(AGES[place] / AGES[place - 1])
    return exp(log(before + 1) + (log(after + 1) - log(before + 1)) * share) - 1


def score(actual: int | None, expected: float | None, minimum: float) -> float | None:
    """How many times what is expected; below that turned round and negative: -2 is half of it.

    Where less than `minimum` is expected, the share of that minimum, which is 0 or more. Nothing of
    what is expected is twice as bad as that number says.
    """
    if actual is None or expected is None:
        return None
    if expected < minimum:
        return actual / minimum
    if actual >= expected:
        return actual / expected
    return -expected / actual if actual else -2 * expected
