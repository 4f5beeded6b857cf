"""What an uploaded file is taken for, and its records one by one, so that parts can be cut of it.

lines ─> ids, JSONL: each line; a table: its rows, after its head; documents: an object a line
What can be read already at this point to be damaged comes as Rejected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from trackers.ingest.files.documents import Values
from trackers.ingest.files.lines import filled_in, guess, is_remark
from trackers.ingest.files.table import (
    SAMPLE,
    Record,
    delimiter_of,
    place_of_ids,
    records,
)
from trackers.ingest.files.tablehead import head_of
from trackers.ingest.found import SHOWN, Numbered, Rejected, UnreadableError, id_of

# A list in one line that is longer is no line of many, but a document without line ends.
LONGEST_LIST = 1 << 20


@dataclass(frozen=True, slots=True)
class Cut:
    """`header`: the first line of a table, of which `column` holds the tweets, counted from 1.

    Without a column nobody could guess it. `files`: of an archive, with the number of the first
    line of each; it grows as the records are read.
    """

    format: str
    records: Iterator[Record | Rejected]
    header: str = ""
    column: int | None = None
    files: Sequence[tuple[str, int]] = ()


def cut(lines: Iterable[str]) -> Cut:
    """Raises UnreadableError when there is no line at all."""
    damage: list[Rejected] = []
    filled = filled_in(lines, damage)
    first = next((one for one in filled if not is_remark(one[1])), None)
    if first is None:
        raise UnreadableError(damage[0].why if damage else "There is nothing in it.")
    format = guess(first[1].strip())
    # Of JSON two hundred lines would be a gigabyte.
    sample = [first, *islice(filled, SAMPLE - 1 if format in ("csv", "ids") else 0)]
    if format == "csv" or (format == "ids" and hides_a_table(sample)):
        return table(sample, filled, damage)
    all = chain(sample, filled)
    if format == "jsonl" and first[1].startswith("[") and len(first[1]) > LONGEST_LIST:
        format = "json"
    found = objects(all) if format == "json" else ((one,) for one in all)
    return Cut(format, then(found, damage))


def hides_a_table(sample: Sequence[tuple[int, str]]) -> bool:
    """Lines of which none is an id, below a title perhaps, but with a column of them."""
    return all(id_of(line) is None for _, line in sample) and place_of_ids(sample) is not None


def table(sample: Sequence[tuple[int, str]], lines: Numbered, damage: list[Rejected]) -> Cut:
    head = head_of(sample)
    before = (
        Rejected(number, line[:SHOWN], "comes before the table")
        for number, line in sample[: head.first]
    )
    below = chain(sample[head.first + head.names_columns :], lines)
    found = records(below, delimiter_of(head.line))
    return Cut("csv", then(chain(before, found), damage), head.line, head.column)


def objects(lines: Numbered) -> Iterator[Record | Rejected]:
    for one in Values(lines):
        # In ASCII: half a surrogate pair is no UTF-8.
        yield one if isinstance(one, Rejected) else ((one.line, json.dumps(one.value)),)


def then(
    records: Iterable[Record | Rejected], damage: list[Rejected]
) -> Iterator[Record | Rejected]:
    """And where the file breaks off, which is known at its end."""
    yield from records
    yield from damage
