"""How a tweet does: the last hour, its author's usual, its half-life, and what a day will bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from trackers.dashboards.scores import score_pill
from trackers.dashboards.words import commas, lasting, signed
from trackers.scores.earlier import UsualArea, earlier_posts
from trackers.scores.read import Scored
from trackers.scores.words import posts_compared, usual_count
from trackers.tweets.archive.read import ArchiveAway
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.growth.at_ages import Born, CountsAtAge, at_ages
from trackers.tweets.growth.earlier import half_life
from trackers.tweets.growth.projection import FULL_AGE, Projection, project
from trackers.tweets.labels import LABELS
from trackers.tweets.models import METRICS, Tweet

_LAST_HOUR = timedelta(hours=1)


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
    hour_since: datetime | None = None
    hour_until: datetime | None = None
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
    own = at_ages([born], [max(age - _LAST_HOUR, timedelta(0))], now=now)[tweet.pk]
    hour, hour_words, since = _last_hour(tweet, own, age)
    return Outlook(
        hour=hour,
        hour_words=hour_words,
        hour_since=since,
        hour_until=tweet.measured_until,
        benchmarks=_benchmark_rows(scores),
        benchmarks_why=_why_no_benchmark(tweet, scores),
        half=_half_in_words(tweet, metric),
        **_day_in_words(tweet, metric, age=age),
    )


def ahead_of(tweet: Tweet) -> tuple[dict[str, UsualArea], str, Projection | None]:
    """What is usual for the author's posts at any age; of which metric, and what, a day will bring
    by them: None after it, or while too few of them are known."""
    if tweet.created_at is None or tweet.measured_until is None:
        return {}, "", None
    earlier = earlier_posts(tweet, _kind_of(tweet))
    age, metric = tweet.measured_until - tweet.created_at, _main_metric(tweet)
    if not timedelta(0) < age < FULL_AGE:
        return earlier.areas(), metric, None
    projection = project(getattr(tweet, metric), earlier.pasts(metric, age), age=age)
    return earlier.areas(), metric, projection


def _kind_of(tweet: Tweet) -> int | None:
    text = getattr(tweet, "tweettext", None)
    return text.kind if text else None


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
    try:
        half = half_life(tweet.pk, tweet.created_at, metric, count)
    except ArchiveAway:
        return "Not known while the archive cannot be read"
    if half is None:
        return f"Not enough yet: it takes 2 {label}."
    words = "at most " if half.at_most else ""
    return f"{words}{lasting(half.after)} for half of its {commas(count)} {label} so far"


def _day_in_words(tweet: Tweet, metric: str, *, age: timedelta) -> dict[str, str]:
    """What it had a day after its posting; before that, the projection and how good that is."""
    label, count = LABELS[metric].lower(), getattr(tweet, metric)
    if age >= FULL_AGE:
        return _day_measured(tweet, METRICS.index(metric), label)
    earlier = earlier_posts(tweet, _kind_of(tweet))
    projection = project(count, earlier.pasts(metric, age), age=age)
    if projection is None:
        return {
            "day": "Not enough yet",
            "method": "A projection takes ten of the author's earlier posts that were measured at "
            "this age and at 24 h, and three more to test it on.",
        }
    return {
        "day": f"about {commas(projection.total)} {label}, probably {commas(projection.low)} "
        f"to {commas(projection.high)}",
        "method": _describe_method(projection, label, age),
    }


def _day_measured(tweet: Tweet, place: int, label: str) -> dict[str, str]:
    counts = checkpoints_of([tweet.pk], [FULL_AGE])[tweet.pk].get(FULL_AGE)
    count = counts and counts[place]
    if count is None:
        return {"day": "Not known", "method": "It was not measured about 24 h after it was posted."}
    return {
        "day": f"{commas(count)} {label}",
        "method": "As measured, or between the measurements before and after that age.",
    }


def _describe_method(projection: Projection, label: str, age: timedelta) -> str:
    return (
        f"What it has now, times how much {projection.tweets} of the author's earlier posts "
        f"grew from {lasting(age)} to 24 h. Past error: tested on {projection.tested} of them, "
        f"each with what was known then, half were off by less than {projection.usual_error:.0%}, "
        f"nine of ten by less than {projection.large_error:.0%}."
    )
