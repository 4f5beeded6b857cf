"""Where an uploaded table begins, and what its columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trackers.ingest.files.columns import Place, is_header, other_columns, place_of_ids
from trackers.ingest.files.table import cells_of, column_name, delimiter_of


@dataclass(frozen=True, slots=True)
class Head:
    """Where a table begins: its first line, and that line's position in the sample."""

    line: str
    first: int
    names_columns: bool
    column: int | None  # the one that seems to hold the tweets, counted from 1; None if unknown


def head_of(sample: Sequence[tuple[int, str]]) -> Head:
    """Without a column of ids, the first line is taken as the head."""
    place = place_of_ids(sample)
    if place is None:
        line = sample[0][1]
        return Head(line, 0, _names_columns(line), None)
    first = place.head - place.has_header
    return Head(sample[first][1], first, place.has_header, place.column + 1)


def columns_of(line: str) -> Sequence[str]:
    """What a table's first line calls its columns; empty names if it is already a row."""
    cells = cells_of(line, delimiter_of(line))
    if isinstance(cells, str):
        return []
    return [cell.strip() for cell in cells] if is_header(cells) else [""] * len(cells)


def _names_columns(line: str) -> bool:
    cells = cells_of(line, delimiter_of(line))
    return not isinstance(cells, str) and is_header(cells)


def place_below(line: str, column: int) -> Place:
    """A column, counted from 1, in the rows of a table that began with that line."""
    names = [column_name(name) for name in columns_of(line)]
    name = names[column - 1] if 0 < column <= len(names) else ""
    others = other_columns(names, column - 1)
    return Place(delimiter_of(line), column - 1, name, 0, False, others)
