"""The middle half of many tweets at the same age, and the ages at which they are compared. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.tweets.growth.at_ages import Born, CountsAtAge

# Fewer say nothing about what is usual.
MIN_KNOWN_COUNTS = 4


@dataclass(frozen=True, slots=True)
class Middle:
    """The quartiles of some tweets."""

    low: float  # a quarter had less
    median: float  # half had less
    high: float  # a quarter had more
    tweets: int


def middle(counts: Iterable[int | None]) -> Middle | None:
    """The quartiles; None if too few counts are known."""
    known = sorted(count for count in counts if count is not None)
    if len(known) < MIN_KNOWN_COUNTS:
        return None
    return Middle(quantile(known, 0.25), quantile(known, 0.5), quantile(known, 0.75), len(known))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Interpolates between two values, as PostgreSQL's percentile_cont does."""
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def counts_at(
    readings: Mapping[int, Sequence[CountsAtAge]], tweets: Iterable[Born]
) -> dict[timedelta, list[tuple[int | None, ...]]]:
    """The counts, by age, of all tweets that were measured near that age."""
    born = {tweet.id: tweet.at for tweet in tweets}
    counts_by_age: dict[timedelta, list[tuple[int | None, ...]]] = {}
    for id, of_tweet in readings.items():
        for reading in of_tweet:
            if reading.is_near(born[id]):
                counts_by_age.setdefault(reading.age, []).append(reading.counts)
    return counts_by_age


def band(
    at: Mapping[timedelta, Sequence[Sequence[int | None]]], place: int
) -> dict[timedelta, Middle]:
    """The quartiles, by increasing age, of the metric at this place in the counts."""
    made = {age: middle(counts[place] for counts in at[age]) for age in sorted(at)}
    return {age: quartiles for age, quartiles in made.items() if quartiles}


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
