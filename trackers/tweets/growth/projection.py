"""How many a tweet will have a day after it was posted, and how wrong such answers were. Pure.

The method of ratios: earlier tweets grew from this age to a day by some factor each; the median of
these factors times what the tweet has now is the projection. It is tested on the same tweets in the
order in which they were posted, each with what was known at that moment alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.tweets.growth.band import quantile

FULL = timedelta(days=1)
# How many finished tweets a projection takes, and how many tested ones show how good it is.
ENOUGH, TESTED = 5, 3


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier tweet: what it had at the age that is asked about, and what a day after its
    posting."""

    born: datetime
    early: int
    late: int

    @property
    def factor(self) -> float:
        return self.late / self.early


@dataclass(frozen=True, slots=True)
class Projection:
    """`low` to `high`: by the middle half of the factors of `tweets` earlier tweets.

    Of `tested` of these, projected in the same way, half were off by no more than `usual_error`,
    nine of ten by no more than `large_error`, as shares of what they came to have.
    """

    total: int
    low: int
    high: int
    tweets: int
    tested: int
    usual_error: float
    large_error: float


def project(count: int | None, past: Sequence[Past], *, age: timedelta) -> Projection | None:
    """What a tweet of this age with this count will have in the end; None: not enough is known."""
    usable = [one for one in past if one.early > 0 and one.late > 0]
    errors = past_errors(usable, age=age)
    if not count or len(usable) < ENOUGH or len(errors) < TESTED:
        return None
    factors = sorted(one.factor for one in usable)
    return Projection(
        total=round(count * quantile(factors, 0.5)),
        low=round(count * quantile(factors, 0.25)),
        high=round(count * quantile(factors, 0.75)),
        tweets=len(usable),
        tested=len(errors),
        usual_error=quantile(errors, 0.5),
        large_error=quantile(errors, 0.9),
    )


def past_errors(past: Sequence[Past], *, age: timedelta) -> list[float]:
    """By how much each would have been missed, in increasing order.

    A tweet is projected from those that were a day old when it had this age; without enough of
    them it is left out.
    """
    errors = []
    for one in past:
        then = one.born + age
        factors = sorted(other.factor for other in past if other.born + FULL <= then)
        if len(factors) >= ENOUGH:
            projected = one.early * quantile(factors, 0.5)
            errors.append(abs(projected - one.late) / one.late)
    return sorted(errors)
