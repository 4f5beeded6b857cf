"""How a tweet does: the last hour, its author's usual, its half-life, and what a day will bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from trackers.dashboards.tweet_rows import LABELS
from trackers.dashboards.words import Moment, ago, counted, lasting, signed
from trackers.tweets.growth.at_ages import Born, Reading, at_ages
from trackers.tweets.growth.band import Middle, ages, band, counts_at
from trackers.tweets.growth.earlier import of_anybody, of_author
from trackers.tweets.growth.half_life import half_life
from trackers.tweets.growth.projection import FULL, Past, Projection, project
from trackers.tweets.models import METRICS, Tweet

EARLIER_MOST = 50
# Points of the band; they are joined by straight lines.
BAND_AGES = 48
HOUR = timedelta(hours=1)

Bands = dict[str, dict[timedelta, Middle]]


@dataclass(frozen=True, slots=True)
class Earlier:
    """Tweets to compare with, and what they had at each age; `own`: they are the author's."""

    tweets: list[Born]
    readings: dict[int, list[Reading]]
    own: bool

    def pasts(self, metric: str, age: timedelta) -> list[Past]:
        """Those that are older than a day and were measured near both ages."""
        place = METRICS.index(metric)
        pasts = []
        for one in self.tweets:
            at = {
                reading.age: reading.counts[place]
                for reading in self.readings[one.id]
                if reading.age in (age, FULL) and reading.is_near(one.at)
            }
            early, late = at.get(age), at.get(FULL)
            if early is not None and late is not None:
                pasts.append(Past(one.at, early, late))
        return pasts

    def bands(self) -> Bands:
        at = counts_at(self.readings, self.tweets)
        return {metric: band(at, place) for place, metric in enumerate(METRICS)}


@dataclass(frozen=True, slots=True)
class Usual:
    """A line of the table: what the tweet has, beside what is usual at its age."""

    metric: str
    label: str
    count: str
    low: str
    median: str
    high: str
    tweets: str
    standing: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """All of it in words; what is not known yet says so."""

    hour: dict[str, str] = field(default_factory=dict)
    hour_words: str = ""
    hour_since: Moment | None = None
    hour_until: Moment | None = None
    usual: tuple[Usual, ...] = ()
    usual_why: str = ""
    half: str = ""
    day: str = ""
    method: str = ""


def outlook(tweet: Tweet, *, now: datetime) -> Outlook:
    """Of the metric that the chart shows first: Views, or else Likes."""
    if tweet.created_at is None or tweet.measured_until is None:
        return Outlook(usual_why="Nothing is known yet: it has not been measured.")
    born = Born(tweet.pk, tweet.created_at)
    age = tweet.measured_until - born.at
    metric = "impressions" if tweet.impressions is not None else "likes"
    own = at_ages([born], sorted({max(age - HOUR, timedelta(0)), FULL}), now=now)[tweet.pk]
    earlier = earlier_of(tweet, [age, FULL], now=now)
    hour, hour_words, since = last_hour(tweet, own, age)
    return Outlook(
        hour=hour,
        hour_words=hour_words,
        hour_since=ago(since, now=now) if since else None,
        hour_until=ago(tweet.measured_until, now=now),
        usual=usual_lines(tweet, earlier, age),
        usual_why=why_no_usual(earlier, age),
        half=half_in_words(tweet, metric),
        **day_in_words(tweet, metric, own, earlier, age=age, now=now),
    )


def earlier_of(tweet: Tweet, ages: Sequence[timedelta], *, now: datetime) -> Earlier:
    """The author's tweets from before this one."""
    if tweet.author_id is None:
        return Earlier([], {}, own=True)
    found = of_author(tweet.author_id, below=tweet.pk, most=EARLIER_MOST)
    return Earlier(found, at_ages(found, ages, now=now), own=True)


def bands_of(tweet: Tweet, since: datetime, until: datetime, *, now: datetime) -> Bands:
    """What is usual for the author's tweets at the ages that the chart shows."""
    if tweet.created_at is None or until <= tweet.created_at:
        return {}
    first = max(timedelta(0), since - tweet.created_at)
    wanted = ages(until - tweet.created_at, count=BAND_AGES, since=first)
    return earlier_of(tweet, wanted, now=now).bands()


def last_hour(
    tweet: Tweet, own: Sequence[Reading], age: timedelta
) -> tuple[dict[str, str], str, datetime | None]:
    """By metric, "+115" or "no change"; "in the last hour"; and since when that is counted: from
    the last measurement at or before an hour before the newest one."""
    before = next((one for one in own if one.age == age - HOUR), None)
    if before is None or tweet.measured_until is None:
        return {}, "", None
    length = tweet.measured_until - before.measured_at
    # Where it is looked up once an hour, that is a little more or less.
    is_hour = abs(length - HOUR) <= HOUR / 10
    words = "in the last hour" if is_hour else f"over {lasting(length)}"
    changes = {}
    for metric, was in zip(METRICS, before.counts, strict=True):
        is_now = getattr(tweet, metric)
        if is_now is not None and was is not None:
            changes[metric] = signed(is_now - was) or "no change"
    return changes, words, before.measured_at


def usual_lines(tweet: Tweet, earlier: Earlier, age: timedelta) -> tuple[Usual, ...]:
    bands = earlier.bands()
    lines = []
    for metric, label in LABELS.items():
        found, count = bands[metric].get(age), getattr(tweet, metric)
        if found is None or count is None:
            continue
        lines.append(
            Usual(
                metric,
                label,
                counted(count),
                counted(round(found.low)),
                counted(round(found.median)),
                counted(round(found.high)),
                counted(found.tweets),
                standing(count, found),
            )
        )
    return tuple(lines)


def standing(count: int, usual: Middle) -> str:
    if usual.low <= count <= usual.high:
        return "as usual"
    words = "more than usual" if count > usual.high else "less than usual"
    times = count / usual.median if usual.median else 0
    if not (times >= 1.5 or 0 < times < 0.7):
        return words
    return f"{words}: {times:,.{0 if times >= 10 else 1}f} × the median"


def why_no_usual(earlier: Earlier, age: timedelta) -> str:
    known = sum(
        reading.age == age and reading.is_near(one.at)
        for one in earlier.tweets
        for reading in earlier.readings[one.id]
    )
    return (
        f"Not enough yet: {known} of the author's earlier tweets "
        f"{'was' if known == 1 else 'were'} measured at this age, and at least 4 are needed."
    )


def half_in_words(tweet: Tweet, metric: str) -> str:
    label = LABELS[metric].lower()
    assert tweet.created_at is not None
    count = getattr(tweet, metric)
    found = half_life(tweet.pk, tweet.created_at, metric, count)
    if found is None:
        return f"Not enough yet: it takes 2 {label}."
    words = "at most " if found.at_most else ""
    return f"{words}{lasting(found.after)} for half of its {counted(count)} {label} so far"


def day_in_words(
    tweet: Tweet,
    metric: str,
    own: Sequence[Reading],
    earlier: Earlier,
    *,
    age: timedelta,
    now: datetime,
) -> dict[str, str]:
    """What it had a day after its posting; before that, the projection and how good that is."""
    label, count = LABELS[metric].lower(), getattr(tweet, metric)
    assert tweet.created_at is not None
    if age >= FULL:
        return day_measured(tweet.created_at, own, METRICS.index(metric), label)
    projected = partial(project, count, age=age)
    found, whose = projected(earlier.pasts(metric, age)), "the author's"
    if found is None:
        all = of_anybody(most=EARLIER_MOST, older_than=FULL, now=now)
        others = Earlier(all, at_ages(all, [age, FULL], now=now), own=False)
        found, whose = projected(others.pasts(metric, age)), "the newest"
    if found is None:
        return {
            "day": "Not enough yet",
            "method": "A projection takes five tweets that were measured at this age and at 24 h, "
            "and three more to test it on.",
        }
    return {
        "day": f"about {counted(found.total)} {label}, probably {counted(found.low)} "
        f"to {counted(found.high)}",
        "method": method(found, whose, label, age),
    }


def day_measured(born: datetime, own: Sequence[Reading], place: int, label: str) -> dict[str, str]:
    reading = next((one for one in own if one.age == FULL and one.is_near(born)), None)
    count = reading and reading.counts[place]
    if reading is None or count is None:
        return {"day": "Not known", "method": "It was not measured about 24 h after it was posted."}
    return {
        "day": f"{counted(count)} {label}",
        "method": f"As last measured, {lasting(reading.measured_at - born)} after it was posted.",
    }


def method(found: Projection, whose: str, label: str, age: timedelta) -> str:
    return (
        f"What it has now, times how much {found.tweets} of {whose} earlier tweets grew from "
        f"{lasting(age)} to 24 h. Past error: tested on {found.tested} of them, each with what was "
        f"known then, half were off by less than {found.usual_error:.0%}, "
        f"nine of ten by less than {found.large_error:.0%}."
    )
