"""How a tweet does: the last hour, its author's usual, its half-life, and what a day will bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from trackers.dashboards.scores import score_pill
from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.words import Moment, ago, commas, lasting, signed
from trackers.scores.read import Scored
from trackers.scores.words import posts_compared, usual_count
from trackers.tweets.growth.at_ages import Born, CountsAtAge, at_ages
from trackers.tweets.growth.band import Middle, ages, band, counts_at
from trackers.tweets.growth.earlier import half_life, of_author
from trackers.tweets.growth.projection import FULL_AGE, PastTweet, Projection, project
from trackers.tweets.models import METRICS, Tweet

_MAX_EARLIER = 50
# Points of the band; they are joined by straight lines.
_BAND_AGES = 48
_LAST_HOUR = timedelta(hours=1)

Bands = dict[str, dict[timedelta, Middle]]


@dataclass(frozen=True, slots=True)
class EarlierTweets:
    """The author's tweets to compare with, and what they had at each age."""

    tweets: list[Born]
    readings: dict[int, list[CountsAtAge]]

    def pasts(self, metric: str, age: timedelta) -> list[PastTweet]:
        """Those that are older than a day and were measured near both ages."""
        place = METRICS.index(metric)
        pasts = []
        for tweet in self.tweets:
            at = {
                reading.age: reading.counts[place]
                for reading in self.readings[tweet.id]
                if reading.age in (age, FULL_AGE) and reading.is_near(tweet.at)
            }
            early, late = at.get(age), at.get(FULL_AGE)
            if early is not None and late is not None:
                pasts.append(PastTweet(tweet.at, early, late))
        return pasts

    def bands(self) -> Bands:
        at = counts_at(self.readings, self.tweets)
        return {metric: band(at, place) for place, metric in enumerate(METRICS)}


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A line of the table: what the tweet has, beside what is usual at its age."""

    label: str
    count: str
    usual: str
    posts: str  # of how many
    verdict: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """All of it in words; what is not known yet says so."""

    hour: dict[str, str] = field(default_factory=dict)
    hour_words: str = ""
    hour_since: Moment | None = None
    hour_until: Moment | None = None
    benchmarks: tuple[BenchmarkRow, ...] = ()
    benchmarks_why: str = ""
    half: str = ""
    day: str = ""
    method: str = ""


def outlook(tweet: Tweet, scores: Mapping[str, Scored], *, now: datetime) -> Outlook:
    """Of the metric that the chart shows first: Views, or else Likes. `scores` by metric."""
    if tweet.created_at is None or tweet.measured_until is None:
        return Outlook(benchmarks_why="Nothing is known yet: it has not been measured.")
    born = Born(tweet.pk, tweet.created_at)
    age = tweet.measured_until - born.at
    metric = _main_metric(tweet)
    own = at_ages([born], sorted({max(age - _LAST_HOUR, timedelta(0)), FULL_AGE}), now=now)[
        tweet.pk
    ]
    earlier = _earlier_of(tweet, [age, FULL_AGE], now=now)
    hour, hour_words, since = _last_hour(tweet, own, age)
    return Outlook(
        hour=hour,
        hour_words=hour_words,
        hour_since=ago(since, now=now) if since else None,
        hour_until=ago(tweet.measured_until, now=now),
        benchmarks=_benchmark_rows(scores),
        benchmarks_why=_why_no_benchmark(tweet, scores),
        half=_half_in_words(tweet, metric),
        **_day_in_words(tweet, metric, own, earlier, age=age, now=now),
    )


def _earlier_of(tweet: Tweet, ages: Sequence[timedelta], *, now: datetime) -> EarlierTweets:
    """The author's tweets from before this one."""
    if tweet.author_id is None:
        return EarlierTweets([], {})
    tweets = of_author(tweet.author_id, below=tweet.pk, most=_MAX_EARLIER)
    return EarlierTweets(tweets, at_ages(tweets, ages, now=now))


def ahead_of(
    tweet: Tweet, since: datetime, until: datetime, *, now: datetime
) -> tuple[Bands, str, Projection | None]:
    """What is usual for the author's tweets at the ages that the chart shows; of which metric, and
    what, a day will bring by them: None after it, or while too few of them are known."""
    if tweet.created_at is None or tweet.measured_until is None or until <= tweet.created_at:
        return {}, "", None
    first = max(timedelta(0), since - tweet.created_at)
    wanted = ages(until - tweet.created_at, count=_BAND_AGES, since=first)
    age, metric = tweet.measured_until - tweet.created_at, _main_metric(tweet)
    is_young = timedelta(0) < age < FULL_AGE
    earlier = _earlier_of(tweet, [*wanted, *([age, FULL_AGE] if is_young else [])], now=now)
    bands = {
        name: {at: middle for at, middle in middles.items() if at in set(wanted)}
        for name, middles in earlier.bands().items()
    }
    if not is_young:
        return bands, metric, None
    return bands, metric, project(getattr(tweet, metric), earlier.pasts(metric, age), age=age)


def _main_metric(tweet: Tweet) -> str:
    return "views" if tweet.views is not None else "likes"


def _last_hour(
    tweet: Tweet, own: Sequence[CountsAtAge], age: timedelta
) -> tuple[dict[str, str], str, datetime | None]:
    """By metric, "+115" or "no change"; "in the last hour"; and since when that is counted: from
    the last measurement at or before an hour before the newest one."""
    before = next((reading for reading in own if reading.age == age - _LAST_HOUR), None)
    if before is None or tweet.measured_until is None:
        return {}, "", None
    length = tweet.measured_until - before.measured_at
    # Where it is looked up once an hour, that is a little more or less.
    is_hour = abs(length - _LAST_HOUR) <= _LAST_HOUR / 10
    words = "in the last hour" if is_hour else f"over {lasting(length)}"
    changes = {}
    for metric, was in zip(METRICS, before.counts, strict=True):
        is_now = getattr(tweet, metric)
        if is_now is not None and was is not None:
            changes[metric] = signed(is_now - was) or "no change"
    return changes, words, before.measured_at


def _benchmark_rows(scores: Mapping[str, Scored]) -> tuple[BenchmarkRow, ...]:
    return tuple(
        BenchmarkRow(
            label,
            commas(scored.actual),
            usual_count(scored.expected),
            posts_compared(scored),
            pill.words,
        )
        for metric, label in LABELS.items()
        if (scored := scores.get(metric)) and scored.expected is not None
        if (pill := score_pill(scored)) and pill.words
    )


def _why_no_benchmark(tweet: Tweet, scores: Mapping[str, Scored]) -> str:
    scored = scores.get(_main_metric(tweet))
    if scored is None:
        return (
            "It is not compared: it is gone, a retweet (which has the counts of the original), or "
            "was younger than five minutes when it was last measured."
        )
    pill = score_pill(scored)
    return f"Not enough yet: {pill.title}" if pill else ""


def _half_in_words(tweet: Tweet, metric: str) -> str:
    label = LABELS[metric].lower()
    assert tweet.created_at is not None
    count = getattr(tweet, metric)
    half = half_life(tweet.pk, tweet.created_at, metric, count)
    if half is None:
        return f"Not enough yet: it takes 2 {label}."
    words = "at most " if half.at_most else ""
    return f"{words}{lasting(half.after)} for half of its {commas(count)} {label} so far"


def _day_in_words(
    tweet: Tweet,
    metric: str,
    own: Sequence[CountsAtAge],
    earlier: EarlierTweets,
    *,
    age: timedelta,
    now: datetime,
) -> dict[str, str]:
    """What it had a day after its posting; before that, the projection and how good that is."""
    label, count = LABELS[metric].lower(), getattr(tweet, metric)
    assert tweet.created_at is not None
    if age >= FULL_AGE:
        return _day_measured(tweet.created_at, own, METRICS.index(metric), label)
    projection = project(count, earlier.pasts(metric, age), age=age)
    if projection is None:
        return {
            "day": "Not enough yet",
            "method": "A projection takes five tweets that were measured at this age and at 24 h, "
            "and three more to test it on.",
        }
    return {
        "day": f"about {commas(projection.total)} {label}, probably {commas(projection.low)} "
        f"to {commas(projection.high)}",
        "method": _describe_method(projection, label, age),
    }


def _day_measured(
    born: datetime, own: Sequence[CountsAtAge], place: int, label: str
) -> dict[str, str]:
    reading = next((one for one in own if one.age == FULL_AGE and one.is_near(born)), None)
    count = reading and reading.counts[place]
    if reading is None or count is None:
        return {"day": "Not known", "method": "It was not measured about 24 h after it was posted."}
    return {
        "day": f"{commas(count)} {label}",
        "method": f"As last measured, {lasting(reading.measured_at - born)} after it was posted.",
    }


def _describe_method(projection: Projection, label: str, age: timedelta) -> str:
    return (
        f"What it has now, times how much {projection.tweets} of the author's earlier tweets "
        f"grew from {lasting(age)} to 24 h. Past error: tested on {projection.tested} of them, "
        f"each with what was known then, half were off by less than {projection.usual_error:.0%}, "
        f"nine of ten by less than {projection.large_error:.0%}."
    )
