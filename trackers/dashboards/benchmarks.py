"""How tweets do against what is usual for their author or source, at the same age.

the newest fifty ─ at_ages ─> the median of each age ─> each of the newest twenty against it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.words import Moment, ago, commas
from trackers.tweets.growth.at_ages import Born, CountsAtAge, at_ages
from trackers.tweets.growth.band import MIN_KNOWN_COUNTS, Middle, counts_at, middle
from trackers.tweets.models import TweetText

BENCHMARK_AGES = {
    timedelta(minutes=15): "15 min",
    timedelta(hours=1): "1 h",
    timedelta(hours=6): "6 h",
    timedelta(days=1): "24 h",
}
# v1.1 shows no views.
BENCHMARK_METRICS = ("views", "likes")
MAX_COMPARED, _MAX_LISTED = 50, 20
_EXCERPT = 80
# Closer to the median than this is as usual.
_AS_USUAL_WITHIN = 0.1


@dataclass(frozen=True, slots=True)
class BenchmarkAtAge:
    """What is usual at an age."""

    age: str
    median: str  # half of the tweets had as much
    low: str  # the middle half had `low` to `high`
    high: str
    tweets: int


@dataclass(frozen=True, slots=True)
class ComparedTweet:
    """A tweet at the highest age that it has reached."""

    id: str
    text: str
    born: Moment
    age: str
    count: str
    median: str
    verdict: str  # empty if nothing is usual
    mood: str


@dataclass(frozen=True, slots=True)
class Benchmarks:
    metric: str  # views, or likes where X shows no views
    ages: tuple[BenchmarkAtAge, ...]
    is_mixed: bool  # they are not of the same tweets, so a later median may be lower
    lines: tuple[ComparedTweet, ...]
    day: BenchmarkAtAge | None
    lacking: int  # how many more tweets it takes until something is usual at 24 hours


def read_benchmarks(tweets: Sequence[Born], *, now: datetime) -> Benchmarks:
    """Of the newest COMPARED tweets, newest first: two queries."""
    compared = list(tweets[:MAX_COMPARED])
    readings = at_ages(compared, list(BENCHMARK_AGES), now=now, metrics=BENCHMARK_METRICS)
    place, metric = _metric_of(readings)
    at = counts_at(readings, compared)
    middles = {age: middle(counts[place] for counts in at.get(age, ())) for age in BENCHMARK_AGES}
    known = {age: item for age, item in middles.items() if item}
    ages = {age: _benchmark_at_age(BENCHMARK_AGES[age], item) for age, item in known.items()}
    texts = _texts_of(tweet.id for tweet in compared[:_MAX_LISTED])
    a_day = timedelta(days=1)
    measured = sum(counts[place] is not None for counts in at.get(a_day, ()))
    return Benchmarks(
        metric=metric,
        ages=tuple(ages.values()),
        is_mixed=len({_known_at(age, compared, readings, place) for age in known}) > 1,
        lines=tuple(
            item
            for tweet in compared[:_MAX_LISTED]
            if (item := _compare_tweet(tweet, readings[tweet.id], known, place, texts, now=now))
        ),
        day=ages.get(a_day),
        lacking=max(0, MIN_KNOWN_COUNTS - measured),
    )


def _known_at(
    age: timedelta,
    tweets: Iterable[Born],
    readings: Mapping[int, Sequence[CountsAtAge]],
    place: int,
) -> frozenset[int]:
    """The tweets of which this count is known at this age."""
    return frozenset(
        tweet.id
        for tweet in tweets
        for reading in readings[tweet.id]
        if reading.age == age and reading.is_near(tweet.at) and reading.counts[place] is not None
    )


def _metric_of(readings: Mapping[int, Sequence[CountsAtAge]]) -> tuple[int, str]:
    """The first that is known of any: its place among the counts, and its name."""
    for place, name in enumerate(BENCHMARK_METRICS):
        if any(
            reading.counts[place] is not None for found in readings.values() for reading in found
        ):
            return place, name
    return 0, BENCHMARK_METRICS[0]


def _benchmark_at_age(age: str, middle: Middle) -> BenchmarkAtAge:
    median, low, high = (
        commas(round(number)) for number in (middle.median, middle.low, middle.high)
    )
    return BenchmarkAtAge(age, median, low, high, middle.tweets)


def _compare_tweet(
    tweet: Born,
    readings: Sequence[CountsAtAge],
    benchmarks: Mapping[timedelta, Middle],
    place: int,
    texts: Mapping[int, str],
    *,
    now: datetime,
) -> ComparedTweet | None:
    """None before its first measured age."""
    near = [
        reading
        for reading in readings
        if reading.is_near(tweet.at) and reading.counts[place] is not None
    ]
    if not near:
        return None
    last = near[-1]
    count, middle = last.counts[place], benchmarks.get(last.age)
    assert count is not None
    verdict, mood = compared_with(count, middle.median) if middle else ("", "")
    return ComparedTweet(
        id=str(tweet.id),
        text=texts.get(tweet.id, ""),
        born=ago(tweet.at, now=now),
        age=BENCHMARK_AGES[last.age],
        count=commas(count),
        median=commas(round(middle.median)) if middle else "–",
        verdict=verdict,
        mood=mood,
    )


def compared_with(count: int, median: float) -> tuple[str, str]:
    """In words, and whether it is far above (up) or below (down)."""
    if not median:
        return ("above: usually none", "up") if count else ("as usual", "")
    ratio = count / median
    if abs(ratio - 1) <= _AS_USUAL_WITHIN:
        return "as usual", ""
    if ratio >= 2:
        return f"{ratio:,.1f} times the usual", "up"
    return (f"{ratio - 1:.0%} above", "up") if ratio > 1 else (f"{1 - ratio:.0%} below", "down")


def _texts_of(ids: Iterable[int]) -> dict[int, str]:
    """The beginnings, in one line each."""
    texts = TweetText.objects.filter(pk__in=list(ids))
    lines = {row.pk: " ".join(row.displayed.split()) for row in texts}
    return {
        id: text if len(text) <= _EXCERPT else f"{text[: _EXCERPT - 1]}…"
        for id, text in lines.items()
    }
