"""A tweet's count a day after it was posted, projected; and the errors of past projections. Pure.

The method of ratios: each earlier tweet grew from this age to a day by some factor; the median of
these factors times the tweet's present count is the projection. It is tested on the same tweets in
the order in which they were posted, each only with what was known at that moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.tweets.growth.quantiles import quantile

FULL_AGE = timedelta(days=1)
# How many finished tweets a projection needs, and how many tested ones show its accuracy.
_MIN_FINISHED, _MIN_TESTED = 10, 3


@dataclass(frozen=True, slots=True)
class PastTweet:
    """An earlier tweet: its count at the age in question, and a day after it was posted."""

    born: datetime
    early: int
    late: int

    @property
    def factor(self) -> float:
        return self.late / self.early


@dataclass(frozen=True, slots=True)
class Projection:
    """A final count, by what earlier tweets reached."""

    total: int
    # `low` to `high` is the range by the middle half of the factors of `tweets` earlier ones.
    low: int
    high: int
    tweets: int
    tested: int  # Of so many of these, projected in the same way …
    usual_error: float  # … half were off by no more, as a share of their final counts
    large_error: float  # … nine of ten


def project(count: int | None, past: Sequence[PastTweet], *, age: timedelta) -> Projection | None:
    """The final count of a tweet of this age with this count; None: not enough is known."""
    usable = [tweet for tweet in past if tweet.early > 0 and tweet.late > 0]
    errors = past_errors(usable, age=age)
    if not count or len(usable) < _MIN_FINISHED or len(errors) < _MIN_TESTED:
        return None
    factors = sorted(tweet.factor for tweet in usable)
    return Projection(
        total=round(count * quantile(factors, 0.5)),
        low=round(count * quantile(factors, 0.25)),
        high=round(count * quantile(factors, 0.75)),
        tweets=len(usable),
        tested=len(errors),
        usual_error=quantile(errors, 0.5),
        large_error=quantile(errors, 0.9),
    )


def past_errors(past: Sequence[PastTweet], *, age: timedelta) -> list[float]:
    """The errors that projections of these would have had, in increasing order.

    Each tweet is projected from those that were a day old when it had this age; without enough of
    them it is left out.
    """
    errors = []
    for tweet in past:
        then = tweet.born + age
        factors = sorted(other.factor for other in past if other.born + FULL_AGE <= then)
        if len(factors) >= _MIN_FINISHED:
            projected = tweet.early * quantile(factors, 0.5)
            errors.append(abs(projected - tweet.late) / tweet.late)
    return sorted(errors)
