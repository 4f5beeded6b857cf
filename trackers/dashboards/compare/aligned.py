"""Tweets side by side by age: their curves, bands of many of them, and a table at fixed ages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.dashboards.words import commas, lasting
from trackers.tweets.growth.at_ages import Born, CountsAtAge
from trackers.tweets.growth.band import Middle, ages, band, counts_at
from trackers.tweets.series import HOLE_FACTOR
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

IntervalAt = Callable[[Born, timedelta], timedelta | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """A count at an age."""

    words: str
    title: str  # when it was measured, or why there is none
    exact: int | None = None


@dataclass(frozen=True, slots=True)
class TweetCurve:
    """One tweet."""

    place: int  # which colour and dash it has, from 1
    born: Born
    name: str
    text: str
    readings: list[CountsAtAge]


@dataclass(frozen=True, slots=True)
class Crowd:
    """The last tweets of an author or a source, as a band."""

    place: int
    name: str
    tweets: list[Born]
    middles: dict[timedelta, Middle]


def all_ages(until: timedelta) -> list[timedelta]:
    """Those of the curves and those of the table, read in one go."""
    return sorted({*ages(until, count=_CURVE_AGES), *TABLE_AGES})


def crowd(
    place: int, name: str, tweets: list[Born], readings: dict[int, list[CountsAtAge]]
) -> Crowd:
    own = {one.id: readings[one.id] for one in tweets}
    return Crowd(place, name, tweets, band(counts_at(own, tweets), 0))


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
    """As last measured at or before that age; a count that is much older says how old it is."""
    reading = next((one for one in curve.readings if one.age == age), None)
    count = reading.counts[0] if reading else None
    if not reached:
        return Cell("–", "It is not that old yet.")
    if reading is None or count is None or not reading.is_near(curve.born.at):
        return Cell("–", "It was not measured around this age.")
    measured = reading.measured_at - curve.born.at
    when = f"Measured {lasting(measured)} after posting, at {exactly(reading.measured_at)}."
    words = commas(count)
    if age - measured > age / 10:
        words += f" at {lasting(measured)}"
    return Cell(words, when, count)


def middle_cell(middle: Middle | None) -> Cell:
    if middle is None:
        return Cell("–", "Fewer than four of these tweets were measured around this age.")
    low, high = commas(round(middle.low)), commas(round(middle.high))
    return Cell(
        f"{low} – {high}",
        f"Median {commas(round(middle.median))} of {middle.tweets} tweets.",
    )


def median_cell(middle: Middle | None) -> Cell:
    if middle is None:
        return Cell("–", "Fewer than four of these tweets were measured around this age.")
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
