"""Tweets side by side by age: their curves, bands of many of them, and a table at fixed ages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.dashboards.words import commas
from trackers.scores.rule import MIN_POSTS
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.growth.at_ages import Born, CountsAtAge, ages
from trackers.tweets.growth.quantiles import quantile
from trackers.tweets.series import HOLE_FACTOR
from trackers.xapi.results import Figures
from tweetwatch.notation import exactly

# Measurements of a curve at the most: two for each pixel would not show more.
_CURVE_AGES = 480
_GAP_EDGE = timedelta(milliseconds=1)
TABLE_AGES = {
    timedelta(minutes=15): "15 min",
    timedelta(hours=1): "1 h",
    timedelta(hours=6): "6 h",
    timedelta(days=1): "24 h",
    timedelta(days=7): "7 d",
}

Checkpoints = Mapping[int, Mapping[timedelta, Figures]]
IntervalAt = Callable[[Born, timedelta], timedelta | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """A count at an age."""

    words: str
    title: str  # when that was, or why there is none
    exact: int | None = None


@dataclass(frozen=True, slots=True)
class TweetCurve:
    """One tweet."""

    place: int  # which colour and dash it has, from 1
    born: Born
    name: str
    text: str
    readings: list[CountsAtAge]
    at: dict[timedelta, int | None]  # of the metric, at each of AGES that is known


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
    if len(known) < MIN_POSTS:
        return None
    return Middle(quantile(known, 0.25), quantile(known, 0.5), quantile(known, 0.75), len(known))


@dataclass(frozen=True, slots=True)
class Crowd:
    """The last tweets of an author or a source, as a band: the quartiles at each of AGES at which
    enough of them are known."""

    place: int
    name: str
    tweets: list[Born]
    middles: dict[timedelta, Middle]


def curve_ages(until: timedelta) -> list[timedelta]:
    """Those of the curves."""
    return ages(until, count=_CURVE_AGES)


def crowd(place: int, name: str, tweets: list[Born], known: Checkpoints, metric: str) -> Crowd:
    middles = {}
    for age in AGES:
        counts = (known[tweet.id].get(age) for tweet in tweets)
        if quartiles := middle(getattr(of, metric) for of in counts if of):
            middles[age] = quartiles
    return Crowd(place, name, tweets, middles)


def measured_points(
    curve: TweetCurve, until: timedelta, every: IntervalAt
) -> list[tuple[timedelta, int | None]]:
    """The measurements up to that age, by the age at which they were made; None where a gap
    begins, right after the measurement before it."""
    points: list[tuple[timedelta, int | None]] = []
    measured_last, in_gap = None, False
    for reading in curve.readings:
        if reading.age > until:
            break
        measured = reading.measured_at - curve.born.at
        if measured != measured_last:
            points.append((measured, reading.counts[0]))
            measured_last, in_gap = measured, False
        elif not in_gap and _in_gap(curve.born, reading, every):
            points.append((measured + _GAP_EDGE, None))
            in_gap = True
    # After the last measurement there is no gap yet.
    return points[:-1] if in_gap else points


def _in_gap(born: Born, reading: CountsAtAge, every: IntervalAt) -> bool:
    """Whether nobody had looked for much longer than the interval for the age at which it was
    measured last, and for longer than a tenth of this age: intervals that were shortened later
    leave no gaps in the past."""
    measured = reading.measured_at - born.at
    usual = every(born, measured)
    since = reading.age - measured
    return since > max(reading.age / 10, HOLE_FACTOR * usual if usual else timedelta(0))


def age_cell(curve: TweetCurve, age: timedelta, *, reached: bool) -> Cell:
    if not reached:
        return Cell("–", "It is not that old yet.")
    count = curve.at.get(age)
    if count is None:
        return Cell("–", "It was not measured around this age.")
    return Cell(commas(count), f"At {exactly(curve.born.at + age)}.", count)


def middle_cell(middle: Middle | None) -> Cell:
    if middle is None:
        return Cell("–", f"Fewer than {MIN_POSTS} of these tweets were measured around this age.")
    low, high = commas(round(middle.low)), commas(round(middle.high))
    return Cell(
        f"{low} – {high}",
        f"Median {commas(round(middle.median))} of {middle.tweets} tweets.",
    )


def median_cell(middle: Middle | None) -> Cell:
    if middle is None:
        return Cell("–", f"Fewer than {MIN_POSTS} of these tweets were measured around this age.")
    return Cell(commas(round(middle.median)), f"Of {middle.tweets} tweets.")


def describe_comparison(
    curves: Sequence[TweetCurve],
    cells: Sequence[Sequence[Cell]],
    crowds: Iterable[Crowd],
    label: str,
) -> str:
    """The comparison in a sentence or two: at the last age that two of them have reached."""
    for place, age in reversed(list(enumerate(TABLE_AGES))):
        known = [
            (exact, curve)
            for curve, row in zip(curves, cells, strict=True)
            if (exact := row[place].exact) is not None
        ]
        middles = [(crowd, crowd.middles[age]) for crowd in crowds if age in crowd.middles]
        if len(known) + len(middles) < 2 and not (middles and not curves):
            continue
        parts = []
        if known:
            most = max(known, key=lambda pair: pair[0])
            parts.append(f"{_curve_name(most[1])} had {commas(most[0])} {label}")
        # Of some of them alone nobody knows which has the most.
        if len(known) == len(curves) > 1:
            least = min(known, key=lambda pair: pair[0])
            parts[0] += f", the most; {_curve_name(least[1])} had {commas(least[0])}, the fewest"
        parts += [
            f"the middle half of {crowd.name} had {commas(round(middle.low))} "
            f"to {commas(round(middle.high))}"
            for crowd, middle in middles
        ]
        return f"{TABLE_AGES[age]} after posting, {'; '.join(parts)}."
    return "Nothing can be compared yet: no two of them were measured at the same age."


def _curve_name(curve: TweetCurve) -> str:
    return f"tweet {curve.place} ({curve.name})"
