"""CSV: lines ─> records, where a quoted field runs over several ─> rows of cells."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from trackers.ingest.found_tweets import Numbered

# A cell may hold thousands of ids.
csv.field_size_limit(16 << 20)
# Tweets contain line ends; but a quoted field that runs on for longer is probably a damaged line.
_LONGEST_FIELD = 100


Record = Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table, or several where a field runs on."""

    number: int
    text: str
    cells: Sequence[str]
    fault: str = ""  # why there are no cells


def rows(lines: Numbered, delimiter: str) -> Iterator[Row]:
    for record in records(lines, delimiter):
        number, text = record[0]
        cells = cells_of("\n".join([line for _, line in record]), delimiter)
        if isinstance(cells, str):
            yield Row(number, text, (), fault=cells)
        else:
            yield Row(number, text, cells)


def records(lines: Numbered, delimiter: str) -> Iterator[Record]:
    """Groups lines into records: a quoted field may run over several lines.

    A quote that is never closed costs only its own line.
    """
    ahead: deque[tuple[int, str]] = deque()
    while True:
        numbered = ahead.popleft() if ahead else next(lines, None)
        if numbered is None:
            return
        if numbered[1].count('"') % 2 and isinstance(cells_of(numbered[1], delimiter), str):
            ahead.extend(islice(lines, _LONGEST_FIELD - len(ahead)))
            count = _how_many_complete(numbered[1], ahead, delimiter)
            yield (numbered, *(ahead.popleft() for _ in range(count)))
        else:
            yield (numbered,)


def _how_many_complete(text: str, ahead: Sequence[tuple[int, str]], delimiter: str) -> int:
    """How many of the next lines complete a record; 0 when they do not."""
    for count, (_, line) in enumerate(ahead, start=1):
        text += "\n" + line
        if '"' in line and not isinstance(cells_of(text, delimiter), str):
            return count
    return 0


def cells_of(text: str, delimiter: str) -> Sequence[str] | str:
    """The cells of a record, or what is wrong with it."""
    try:
        # Not splitlines: tweets contain line separators of their own.
        lines = [line + "\n" for line in text.split("\n")]
        return next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as fault:
        return str(fault)
    except StopIteration:
        return "it is empty"


def delimiter_of(line: str) -> str:
    return max(",;\t|", key=line.count)


def column_name(cell: str) -> str:
    return cell.strip().strip('"').lower().replace(" ", "_")
