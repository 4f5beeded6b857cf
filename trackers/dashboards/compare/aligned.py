"""Tweets side by side by age: their curves, bands of many of them, and a table at fixed ages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from trackers.dashboards.words import counted, exactly, lasting
from trackers.tweets.growth.at_ages import Born, Reading
from trackers.tweets.growth.band import Middle, ages, band, counts_at
from trackers.tweets.series import MUCH

# Points of a curve: two for each pixel would not show more of a line that only steps up.
CURVE_AGES = 480
TABLE_AGES = {
    timedelta(minutes=15): "15 min",
    timedelta(hours=1): "1 h",
    timedelta(hours=6): "6 h",
    timedelta(days=1): "24 h",
    timedelta(days=7): "7 d",
}

Every = Callable[[Born, timedelta], timedelta | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """A count at an age; `title` says when it was measured, or why there is none."""

    words: str
    title: str
    exact: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One tweet. `place`: which colour and dash it has, from 1."""

    place: int
    born: Born
    name: str
    text: str
    readings: list[Reading]


@dataclass(frozen=True, slots=True)
class Crowd:
    """The last tweets of an author or a source, as a band."""

    place: int
    name: str
    tweets: list[Born]
    middles: dict[timedelta, Middle]


def curve_ages(until: timedelta) -> list[timedelta]:
    """With those of the table, so that the chart says at them what the table says."""
    shared = [age for age in TABLE_AGES if age <= until]
    return sorted({*ages(until, count=CURVE_AGES), *shared})


def all_ages(until: timedelta) -> list[timedelta]:
    """Those of the curves and those of the table, read in one go."""
    return sorted({*curve_ages(until), *TABLE_AGES})


def crowd(place: int, name: str, tweets: list[Born], readings: dict[int, list[Reading]]) -> Crowd:
    own = {one.id: readings[one.id] for one in tweets}
    return Crowd(place, name, tweets, band(counts_at(own, tweets), 0))


def values(line: Line, xs: Sequence[timedelta], every: Every) -> list[int | None]:
    """The curve at these ages; None in gaps, and where it was never measured."""
    at = {one.age: one for one in line.readings}
    return [
        reading.counts[0] if (reading := at.get(age)) and not in_gap(line.born, reading, every)
        else None
        for age in xs
    ]  # fmt: skip


def in_gap(born: Born, reading: Reading, every: Every) -> bool:
    """Whether nobody had looked for much longer than the interval for that age, and for longer than
    a tenth of that age: intervals that were shortened later leave no gaps in the past."""
    since = born.at + reading.age - reading.measured_at
    usual = every(born, reading.age)
    return since > max(reading.age / 10, MUCH * usual if usual else timedelta(0))


def cell(line: Line, age: timedelta, *, reached: bool) -> Cell:
    """As last measured at or before that age; a count that is much older says how old it is."""
    reading = next((one for one in line.readings if one.age == age), None)
    count = reading.counts[0] if reading else None
    if not reached:
        return Cell("–", "It is not that old yet.")
    if reading is None or count is None or not reading.is_near(line.born.at):
        return Cell("–", "It was not measured around this age.")
    measured = reading.measured_at - line.born.at
    when = f"Measured {lasting(measured)} after posting, at {exactly(reading.measured_at)}."
    words = counted(count)
    if age - measured > age / 10:
        words += f" at {lasting(measured)}"
    return Cell(words, when, count)


def middle_cell(found: Middle | None) -> Cell:
    if found is None:
        return Cell("–", "Fewer than four of these tweets were measured around this age.")
    low, high = counted(round(found.low)), counted(round(found.high))
    return Cell(
        f"{low} – {high}",
        f"Median {counted(round(found.median))} of {found.tweets} tweets.",
    )


def median_cell(found: Middle | None) -> Cell:
    if found is None:
        return Cell("–", "Fewer than four of these tweets were measured around this age.")
    return Cell(counted(round(found.median)), f"Of {found.tweets} tweets.")


def told(
    lines: Sequence[Line], cells: Sequence[Sequence[Cell]], crowds: Iterable[Crowd], label: str
) -> str:
    """The comparison in a sentence or two: at the last age that two of them have reached."""
    for place, age in reversed(list(enumerate(TABLE_AGES))):
        known = [
            (exact, line)
            for line, row in zip(lines, cells, strict=True)
            if (exact := row[place].exact) is not None
        ]
        middles = [(one, one.middles[age]) for one in crowds if age in one.middles]
        if len(known) + len(middles) < 2 and not (middles and not lines):
            continue
        parts = []
        if known:
            most = max(known, key=lambda pair: pair[0])
            parts.append(f"{name_of(most[1])} had {counted(most[0])} {label}")
        if len(known) > 1:
            least = min(known, key=lambda pair: pair[0])
            parts[0] += f", the most; {name_of(least[1])} had {counted(least[0])}, the fewest"
        parts += [
            f"the middle half of {one.name} had {counted(round(found.low))} "
            f"to {counted(round(found.high))}"
            for one, found in middles
        ]
        return f"{TABLE_AGES[age]} after posting, {'; '.join(parts)}."
    return "Nothing can be compared yet: no two of them were measured at the same age."


def name_of(line: Line) -> str:
    return f"tweet {line.place} ({line.name})"
