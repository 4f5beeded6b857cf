"""Does this list of intervals make sense? Pure: rows in, a sentence for each fault out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from trackers.schedule.durations import spell

SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=365)
OLDEST = timedelta(days=36500)
JITTER = 0.05
MOST_JITTER = 0.5
LEAST_ACCURACY, MOST_ACCURACY = 0.001, 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """“Younger than … → every …”, as a person entered it; with an accuracy it adapts instead, and
    `every` is unused."""

    younger_than: timedelta
    every: timedelta
    jitter: float = JITTER
    enabled: bool = True
    accuracy: float | None = None
    at_most: timedelta | None = None
    at_least: timedelta | None = None

    @property
    def adapts(self) -> bool:
        return self.accuracy is not None


def faults(rows: Sequence[Row]) -> list[str]:
    """What is wrong with the rows, in the given order; empty: nothing."""
    return [*of_each(rows), *of_the_order(rows), *of_the_whole(rows)]


def of_each(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        name = f"Younger than {spell(row.younger_than)}"
        if row.younger_than <= timedelta(0):
            yield f"{name}: an age must be more than zero."
        elif row.younger_than > OLDEST:
            yield f"{name}: no tweet is older than {spell(OLDEST)}."
        elif not row.adapts and row.every > row.younger_than and row.every >= SHORTEST:
            yield (
                f"{name}: every {spell(row.every)} is longer than the age itself, so no tweet "
                "would be looked up at that age."
            )
        if row.every < SHORTEST:
            yield f"{name}: every {spell(row.every)} is too often. Once a second is the limit."
        elif row.every > LONGEST:
            yield f"{name}: every {spell(row.every)} is too seldom. Once a year is the limit."
        yield from (f"{name}: {said}" for _, said in of_adapting(row))
        if not 0 <= row.jitter <= MOST_JITTER:
            yield f"{name}: a jitter must be a share from 0 to {MOST_JITTER}, not {row.jitter:g}."


def of_adapting(row: Row) -> Iterator[tuple[str, str]]:
    """Faults of the three fields that make a row adapt: the field, and a sentence without the row's
    name."""
    if row.accuracy is None:
        if row.at_most is not None or row.at_least is not None:
            yield (
                "accuracy",
                "“at most every” and “at least every” need an accuracy. Leave all three empty "
                "for a fixed row.",
            )
        return
    # NaN is outside any range.
    if not LEAST_ACCURACY <= row.accuracy <= MOST_ACCURACY:
        yield (
            "accuracy",
            f"an accuracy must be from {LEAST_ACCURACY:.1%} to {MOST_ACCURACY:.0%}, "
            f"not {100 * row.accuracy:g}%.",
        )
    if row.at_most is None:
        yield "at_most", "an accuracy needs “at most every”, such as 20s."
    elif row.at_most < SHORTEST:
        yield (
            "at_most",
            f"at most every {spell(row.at_most)} is too often. Once a second is the limit.",
        )
    if row.at_least is None:
        yield "at_least", "an accuracy needs “at least every”, such as 5m."
        return
    if row.at_most is not None and row.at_most > row.at_least:
        yield (
            "at_most",
            f"at most every {spell(row.at_most)} is longer than at least every "
            f"{spell(row.at_least)}.",
        )
    if row.at_least > row.younger_than:
        yield (
            "at_least",
            f"at least every {spell(row.at_least)} is longer than the age itself.",
        )


def of_the_order(rows: Sequence[Row]) -> Iterator[str]:
    bounds = [row.younger_than for row in rows]
    for before, after in pairwise(bounds):
        if after == before:
            yield f"Younger than {spell(after)} appears twice."
        elif after < before:
            yield (
                f"Younger than {spell(after)} comes after younger than {spell(before)}: "
                "the ages must increase."
            )


def of_the_whole(rows: Sequence[Row]) -> Iterator[str]:
    if not any(row.enabled for row in rows):
        yield (
            "At least one interval must be enabled. To stop all look-ups, pause the queue "
            "tweet:update."
        )
