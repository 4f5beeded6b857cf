"""The format of an uploaded file, and its records one by one, ready to be cut into parts.

lines ─> ids, JSONL: each line; a table: its rows, after its head; documents: one object per line
Whatever can be seen to be damaged at this point comes as Rejected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from trackers.ingest.files.documents import Values
from trackers.ingest.files.lines import filled_in
from trackers.ingest.files.recognise import recognise
from trackers.ingest.files.table import Record, delimiter_of, records
from trackers.ingest.files.tablehead import head_of
from trackers.ingest.found_tweets import MAX_QUOTED_LENGTH, Numbered, Rejected, UnreadableError

# A longer list in one line is not one line of many, but a whole document without line ends.
_LONGEST_LIST = 1 << 20


@dataclass(frozen=True, slots=True)
class Cut:
    format: str
    records: Iterator[Record | Rejected]
    header: str = ""  # a table's first line
    # The number, from 1, of the one that holds the tweets; None if it could not be guessed.
    column: int | None = None
    # Those of an archive, each with the number of its first line; the list grows as the records are
    # read.
    files: Sequence[tuple[str, int]] = ()


def cut(lines: Iterable[str], *, format: str = "auto") -> Cut:
    """Raises UnreadableError when there is not a single line. `format`: what a person chose."""
    damage: list[Rejected] = []
    filled = filled_in(lines, damage)
    recognised, sample = recognise(filled)
    format = recognised if format == "auto" else format
    if not sample:
        raise UnreadableError(damage[0].why if damage else "It is empty.")
    if format == "csv":
        return _cut_table(sample, filled, damage)
    all = chain(sample, filled)
    if format == "jsonl" and _is_long_list(sample[0][1]):
        format = "json"
    found = _objects(all) if format == "json" else ((one,) for one in all)
    return Cut(format, _then(found, damage))


def _is_long_list(line: str) -> bool:
    return line.startswith("[") and len(line) > _LONGEST_LIST


def _cut_table(sample: Sequence[tuple[int, str]], lines: Numbered, damage: list[Rejected]) -> Cut:
    head = head_of(sample)
    before = (
        Rejected(number, line[:MAX_QUOTED_LENGTH], "comes before the table")
        for number, line in sample[: head.first]
    )
    below = chain(sample[head.first + head.names_columns :], lines)
    found = records(below, delimiter_of(head.line))
    return Cut("csv", _then(chain(before, found), damage), head.line, head.column)


def _objects(lines: Numbered) -> Iterator[Record | Rejected]:
    for one in Values(lines):
        # Escaped to ASCII: a lone surrogate cannot be encoded as UTF-8.
        yield one if isinstance(one, Rejected) else ((one.line, json.dumps(one.value)),)


def _then(
    records: Iterable[Record | Rejected], damage: list[Rejected]
) -> Iterator[Record | Rejected]:
    """The records, then the damage where the file breaks off, which is known only at the end."""
    yield from records
    yield from damage
