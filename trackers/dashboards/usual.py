"""How tweets do against what is usual for their author or source, at the same age.

the newest fifty ─ at_ages ─> the median of each age ─> each of the newest twenty against it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.dashboards.words import Moment, ago, counted
from trackers.tweets.growth.at_ages import Born, Reading, at_ages
from trackers.tweets.growth.band import ENOUGH, Middle, counts_at, middle
from trackers.tweets.models import TweetText

AGES = {
    timedelta(minutes=15): "15 min",
    timedelta(hours=1): "1 h",
    timedelta(hours=6): "6 h",
    timedelta(days=1): "24 h",
}
# v1.1 shows no impressions.
METRICS = {"impressions": "views", "likes": "likes"}
COMPARED, LISTED = 50, 20
EXCERPT = 80
# Closer to the median than this is as usual.
NEAR = 0.1


@dataclass(frozen=True, slots=True)
class AtAge:
    """What is usual at an age: half of the tweets had `median`, the middle half `low` to `high`."""

    age: str
    median: str
    low: str
    high: str
    tweets: int


@dataclass(frozen=True, slots=True)
class Against:
    """A tweet at the highest age that it has reached; `verdict` is empty if nothing is usual."""

    id: str
    text: str
    born: Moment
    age: str
    count: str
    median: str
    verdict: str
    mood: str


@dataclass(frozen=True, slots=True)
class Usual:
    """`metric`: views, or likes where X shows no views. `lacking`: how many more tweets it takes
    until something is usual at 24 hours."""

    metric: str
    ages: tuple[AtAge, ...]
    lines: tuple[Against, ...]
    day: AtAge | None
    lacking: int


def usual(tweets: Sequence[Born], *, now: datetime) -> Usual:
    """Of the newest COMPARED tweets, newest first: two queries."""
    compared = list(tweets[:COMPARED])
    readings = at_ages(compared, list(AGES), now=now, metrics=tuple(METRICS))
    place, metric = metric_of(readings)
    at = counts_at(readings, compared)
    middles = {age: middle(counts[place] for counts in at.get(age, ())) for age in AGES}
    known = {age: found for age, found in middles.items() if found}
    ages = {age: at_age(AGES[age], found) for age, found in known.items()}
    texts = texts_of(one.id for one in compared[:LISTED])
    a_day = timedelta(days=1)
    measured = sum(counts[place] is not None for counts in at.get(a_day, ()))
    return Usual(
        metric=metric,
        ages=tuple(ages.values()),
        lines=tuple(
            found
            for one in compared[:LISTED]
            if (found := against(one, readings[one.id], known, place, texts, now=now))
        ),
        day=ages.get(a_day),
        lacking=max(0, ENOUGH - measured),
    )


def metric_of(readings: Mapping[int, Sequence[Reading]]) -> tuple[int, str]:
    """The first that is known of any: its place among the counts, and its name."""
    for place, name in enumerate(METRICS.values()):
        if any(one.counts[place] is not None for found in readings.values() for one in found):
            return place, name
    return 0, METRICS["impressions"]


def at_age(age: str, found: Middle) -> AtAge:
    median, low, high = (counted(round(one)) for one in (found.median, found.low, found.high))
    return AtAge(age, median, low, high, found.tweets)


def against(
    tweet: Born,
    readings: Sequence[Reading],
    usual: Mapping[timedelta, Middle],
    place: int,
    texts: Mapping[int, str],
    *,
    now: datetime,
) -> Against | None:
    """None before its first measured age."""
    near = [one for one in readings if one.is_near(tweet.at) and one.counts[place] is not None]
    if not near:
        return None
    last = near[-1]
    count, found = last.counts[place], usual.get(last.age)
    assert count is not None
    verdict, mood = compared_with(count, found.median) if found else ("", "")
    return Against(
        id=str(tweet.id),
        text=texts.get(tweet.id, ""),
        born=ago(tweet.at, now=now),
        age=AGES[last.age],
        count=counted(count),
        median=counted(round(found.median)) if found else "–",
        verdict=verdict,
        mood=mood,
    )


def compared_with(count: int, median: float) -> tuple[str, str]:
    """In words, and whether it is far above (up) or below (down)."""
    if not median:
        return ("above: usually none", "up") if count else ("as usual", "")
    ratio = count / median
    if abs(ratio - 1) <= NEAR:
        return "as usual", ""
    if ratio >= 2:
        return f"{ratio:,.1f} times the usual", "up"
    return (f"{ratio - 1:.0%} above", "up") if ratio > 1 else (f"{1 - ratio:.0%} below", "down")


def texts_of(ids: Iterable[int]) -> dict[int, str]:
    """The beginnings, in one line each."""
    found = TweetText.objects.filter(pk__in=list(ids))
    lines = {one.pk: " ".join(one.text.split()) for one in found}
    return {
        id: text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"
        for id, text in lines.items()
    }
