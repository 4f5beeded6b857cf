"""Counts of tweets at given ages: the last measurement at or before each age."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from trackers.tweets.models import METRICS
from tweetwatch.database import array, cursor
from tweetwatch.statements import fill, statement

# A count says nothing about an age if it was last measured at less than half of that age.
_MAX_STALE_SHARE = 0.5
_ALWAYS_NEAR = timedelta(minutes=2)
_SHORTEST_MONTH = timedelta(days=28)


class Born(NamedTuple):
    """A tweet whose time of posting is known."""

    id: int
    at: datetime


class CountsAtAge(NamedTuple):
    tweet_id: int
    age: timedelta
    measured_at: datetime
    # Those of the tweet at this age, as last measured at `measured_at`.
    counts: tuple[int | None, ...]

    def is_near(self, born: datetime) -> bool:
        """Whether it was measured recently enough to be called the count at this age."""
        return born + self.age - self.measured_at <= max(_ALWAYS_NEAR, _MAX_STALE_SHARE * self.age)


_AT_AGES = statement(__file__, "at_ages", open=["slices", "arrays", "columns", "elements"])


@cache
def _statement_for(metrics: tuple[str, ...]) -> str:
    """The statement for these of the METRICS."""
    assert set(metrics) <= set(METRICS)
    parts = {
        "slices": ", ".join(f"{metric}[1:] AS {metric}" for metric in metrics),
        "arrays": ", ".join(f"array_agg({metric})" for metric in metrics),
        "columns": ", ".join(metrics),
        "elements": ", ".join(f"s.{metric}[n]" for metric in metrics),
    }
    return fill(_AT_AGES, parts)


def at_ages(
    tweets: Iterable[Born],
    ages: Sequence[timedelta],
    *,
    now: datetime,
    metrics: tuple[str, ...] = METRICS,
) -> dict[int, list[CountsAtAge]]:
    """The readings of each tweet by increasing age; none for ages before its first measurement.

    Ages that it has not reached by `now` are left out.
    """
    asked = list(tweets)
    by_tweet: dict[int, list[CountsAtAge]] = {tweet.id: [] for tweet in asked}
    if not asked or not ages:
        return by_tweet
    params = {
        "ids": array(tweet.id for tweet in asked),
        "born": [tweet.at for tweet in asked],
        "ages": list(ages),
        "now": now,
        "months": max(ages) // _SHORTEST_MONTH + 3,
    }
    with cursor() as db:
        for id, age, at, *counts in db.execute(_statement_for(metrics), params, binary=True):
            by_tweet[id].append(CountsAtAge(id, age, at, tuple(counts)))
    return by_tweet


def ages(until: timedelta, *, count: int, since: timedelta = timedelta(0)) -> list[timedelta]:
    """Half of the ages evenly from `since` to `until`, the others dense where tweets grow most.

    In whole seconds, so that an age is the same however it was computed.
    """
    first = max(since, timedelta(minutes=1))
    if until <= first:
        return [first]
    half = max(2, count // 2)
    even = [since + (until - since) * place / half for place in range(1, half + 1)]
    ratio = until / first
    dense = [first * ratio ** (place / half) for place in range(half)]
    return sorted({timedelta(seconds=round(age.total_seconds())) for age in (*even, *dense)})
