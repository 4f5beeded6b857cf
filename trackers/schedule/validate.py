"""Does this list of intervals make sense? Pure: rows in, a sentence for each fault out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from trackers.schedule.durations import spell

_MIN_INTERVAL = timedelta(seconds=1)
_MAX_INTERVAL = timedelta(days=365)
_MAX_AGE = timedelta(days=36500)
DEFAULT_JITTER = 0.05
MAX_JITTER = 0.5
MIN_ACCURACY, MAX_ACCURACY = 0.001, 0.5


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """“Younger than … → every …”, as a person entered it; with an accuracy it adapts instead, and
    `every` is unused."""

    younger_than: timedelta
    every: timedelta
    jitter: float = DEFAULT_JITTER
    enabled: bool = True
    accuracy: float | None = None
    at_most: timedelta | None = None
    at_least: timedelta | None = None

    @property
    def adapts(self) -> bool:
        return self.accuracy is not None


def faults(rows: Sequence[IntervalRow]) -> list[str]:
    """What is wrong with the rows, in the given order; empty: nothing."""
    return [*_of_each(rows), *_of_the_order(rows), *_of_the_whole(rows)]


def _of_each(rows: Sequence[IntervalRow]) -> Iterator[str]:
    for row in rows:
        name = f"Younger than {spell(row.younger_than)}"
        if row.younger_than <= timedelta(0):
            yield f"{name}: an age must be more than zero."
        elif row.younger_than > _MAX_AGE:
            yield f"{name}: no tweet is older than {spell(_MAX_AGE)}."
        elif not row.adapts and row.every > row.younger_than and row.every >= _MIN_INTERVAL:
            yield (
                f"{name}: every {spell(row.every)} is longer than the age itself, so no tweet "
                "would be looked up at that age."
            )
        if row.every < _MIN_INTERVAL:
            yield f"{name}: every {spell(row.every)} is too often. Once a second is the limit."
        elif row.every > _MAX_INTERVAL:
            yield f"{name}: every {spell(row.every)} is too seldom. Once a year is the limit."
        yield from (f"{name}: {sentence}" for _, sentence in of_adapting(row))
        if not 0 <= row.jitter <= MAX_JITTER:
            yield f"{name}: a jitter must be a share from 0 to {MAX_JITTER}, not {row.jitter:g}."


def of_adapting(row: IntervalRow) -> Iterator[tuple[str, str]]:
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
    if not MIN_ACCURACY <= row.accuracy <= MAX_ACCURACY:
        yield (
            "accuracy",
            f"an accuracy must be from {MIN_ACCURACY:.1%} to {MAX_ACCURACY:.0%}, "
            f"not {100 * row.accuracy:g}%.",
        )
    if row.at_most is None:
        yield "at_most", "an accuracy needs “at most every”, such as 20s."
    elif row.at_most < _MIN_INTERVAL:
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


def _of_the_order(rows: Sequence[IntervalRow]) -> Iterator[str]:
    bounds = [row.younger_than for row in rows]
    for before, after in pairwise(bounds):
        if after == before:
            yield f"Younger than {spell(after)} appears twice."
        elif after < before:
            yield (
                f"Younger than {spell(after)} comes after younger than {spell(before)}: "
                "the ages must increase."
            )


def _of_the_whole(rows: Sequence[IntervalRow]) -> Iterator[str]:
    if not any(row.enabled for row in rows):
        yield (
            "At least one interval must be enabled. To stop all look-ups, pause the queue "
            "tweet:update."
        )
