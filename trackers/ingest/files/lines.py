"""What a person or a file gives us, line by line: ids, addresses, CSV, JSONL, JSON.

line ─> Found (an id, perhaps with everything X sent about it) or Rejected (its number and why)
A bad line is reported, and no other is refused because of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from trackers.ingest.files.documents import read_json
from trackers.ingest.files.objects import read_jsonl
from trackers.ingest.files.opening import LONGEST_LINE, CutOff
from trackers.ingest.files.table import (
    ID_COLUMNS,
    NUMBER,
    SAMPLE,
    column_name,
    kind_of,
    read_csv,
)
from trackers.ingest.found_tweets import (
    MAX_QUOTED_LENGTH,
    ROUNDED_THERE,
    FoundTweet,
    Numbered,
    Options,
    Rejected,
    id_of,
    is_rounded,
)

__all__ = ["READERS", "FoundTweet", "Options", "Rejected", "id_of", "read_tweets"]

# In characters, each of at most four bytes; the last one may be in the next piece.
_LONGEST_PIECE = LONGEST_LINE // 4 - 1
# The name of a column, alone on its line.
_COLUMN_NAME = re.compile(r'"?[a-z_][a-z0-9_ ]{0,38}"?', re.IGNORECASE)
# The head of a tweet archive's file, or of JSON that is spread over many lines.
_SPREAD_JSON = re.compile(r"window\.|[\[{][\s\[{]*$")
_NOT_A_TWEET = "is neither the id nor the address of a tweet"


def read_tweets(
    lines: Iterable[str], *, format: str = "auto", options: Options | None = None
) -> Iterator[FoundTweet | Rejected]:
    """Read ids, addresses, CSV or JSON; `auto` decides by the first line that is not empty.

    Empty lines are skipped, and so are those that begin with #, at the top or among ids. Raises
    UnreadableError, before the first tweet, when the options do not fit.
    """
    damage: list[Rejected] = []
    filled = filled_in(lines, damage)
    first = next((one for one in filled if not is_remark(one[1])), None)
    if first is not None:
        sample = [first]
        if format == "auto":
            format = guess(first[1].strip())
            if format == "ids" and _COLUMN_NAME.fullmatch(first[1].strip()):
                # Further lines are awaited only here: at a terminal they come one by one.
                sample += islice(filled, SAMPLE - 1)
                format = "csv" if is_column_of_numbers(sample) else format
        yield from READERS[format](chain(sample, filled), options or Options())
    yield from damage


def filled_in(lines: Iterable[str], damage: list[Rejected]) -> Numbered:
    """The lines that are not empty. If the file breaks off, they end, and `damage` says so.

    All pieces of one long line have its number.
    """
    number, ended = 0, True
    try:
        for line in lines:
            number += ended
            ended = len(line) < _LONGEST_PIECE or line.endswith("\n")
            # Only line ends are stripped: in a table, an empty first cell may be a tab.
            text = line.rstrip("\r\n").lstrip("\ufeff")
            if text.strip():
                yield number, text
    except CutOff as fault:
        damage.append(Rejected(number + 1, "", str(fault)))


def is_remark(line: str) -> bool:
    return line.lstrip().startswith("#")


def guess(line: str) -> str:
    if _SPREAD_JSON.match(line):
        return "json"
    if line.startswith(("{", "[")):
        return "jsonl"
    if (id_of(line) is None and any(c in line for c in ",;\t")) or column_name(line) in ID_COLUMNS:
        return "csv"
    return "ids"


def is_column_of_numbers(sample: Sequence[tuple[int, str]]) -> bool:
    """A name, and below it short numbers alone: ages or counts, unless a person says otherwise."""
    (_, name), *below = sample
    return (
        bool(below)
        and _COLUMN_NAME.fullmatch(name.strip()) is not None
        and all(kind_of(line) == NUMBER for _, line in below)
    )


def _read_ids(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    for number, line in lines:
        if is_remark(line):
            continue
        id = id_of(line)
        if id is None:
            why = ROUNDED_THERE if is_rounded(line) else _NOT_A_TWEET
            yield Rejected(number, line.strip()[:MAX_QUOTED_LENGTH], why)
        else:
            yield FoundTweet(id)


READERS: Mapping[str, Callable[[Numbered, Options], Iterator[FoundTweet | Rejected]]] = {
    "ids": _read_ids,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "json": read_json,
}
