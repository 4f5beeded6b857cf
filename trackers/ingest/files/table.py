"""CSV with any column names: guesses from names and values which column holds the tweets."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from trackers.ingest.found_tweets import (
    MAX_QUOTED_LENGTH,
    ROUNDED_THERE,
    FoundTweet,
    Numbered,
    Options,
    Rejected,
    UnreadableError,
    id_of,
    is_rounded,
)

# The clearest names first: beside one of these, `id` is often the row's own number, or 1.2E+18 if
# it went through a spreadsheet, and `tweet` is the text.
ID_COLUMNS = (
    "tweet_id",
    "id_str",
    "tweetid",
    "status_id",
    "id",
    "tweet_url",
    "url",
    "link",
    "tweet",
)
# Ids of something else; looking those up would only cost money.
_OF_SOMETHING_ELSE = (
    "user", "author", "account", "conversation", "repl", "quoted", "retweeted", "referenced",
    "parent", "media", "place", "list",
)  # fmt: skip
SAMPLE = 200
# How many lines down a file's header may be.
_HEADS = 50
# Tweets contain line ends; but a quoted field that runs on for longer is probably a damaged line.
_LONGEST_FIELD = 100
# Tweet ids have been this long since 2010.
_LOOKS_LIKE_A_TWEET = 10**14


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tweets are."""

    delimiter: str
    column: int
    name: str
    head: int  # how many lines come before them, header included
    has_header: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table, or several where a field runs on."""

    number: int
    text: str
    cells: Sequence[str]
    fault: str = ""  # why there are no cells


def read_csv(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    """Tweets of one column; lines before its header, or before the first id, are rejected.

    Raises UnreadableError if the column is unknown: a rejection of each line would not help.
    """
    sample = list(islice(lines, SAMPLE))
    place = _place_named(sample, options.column) if options.column else place_of_ids(sample)
    if place is None:
        raise UnreadableError(
            "We could not tell which column holds the tweets. Give its name or number with "
            f"--column. The first line is: {sample[0][1].strip()[:MAX_QUOTED_LENGTH]}"
        )
    options.on_note(f"column {place.name} holds the tweets")
    for number, line in sample[: place.head - place.has_header]:
        yield Rejected(number, line[:MAX_QUOTED_LENGTH], "comes before the table")
    yield from read_rows(chain(sample[place.head :], lines), place)


def read_rows(lines: Numbered, place: Place) -> Iterator[FoundTweet | Rejected]:
    """Tweets of a table's lines after its head."""
    for row in rows(lines, place.delimiter):
        id = id_of(row.cells[place.column]) if place.column < len(row.cells) else None
        if row.fault:
            yield Rejected(
                row.number, row.text[:MAX_QUOTED_LENGTH], f"is not a line of CSV: {row.fault}"
            )
        elif id is None:
            yield Rejected(row.number, row.text[:MAX_QUOTED_LENGTH], _why_not(row, place.column))
        else:
            yield FoundTweet(id)


def _why_not(row: Row, column: int) -> str:
    cell = row.cells[column] if column < len(row.cells) else ""
    return ROUNDED_THERE if is_rounded(cell) else f"has no id in column {column + 1}"


def rows(lines: Numbered, delimiter: str) -> Iterator[Row]:
    for record in records(lines, delimiter):
        number, text = record[0]
        cells = cells_of("\n".join([line for _, line in record]), delimiter)
        if isinstance(cells, str):
            yield Row(number, text, (), fault=cells)
        else:
            yield Row(number, text, cells)


Record = Sequence[tuple[int, str]]


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


# A cell that might be an id or an address, in a line that is not cut into cells yet.
MAYBE_AN_ID = re.compile(r'(?:^|[,;\t"\s])[0-9]{1,19}(?:$|[,;\t"\s])|/status', re.IGNORECASE)


def place_of_ids(sample: Sequence[tuple[int, str]]) -> Place | None:
    """The place by the first line that heads a column of ids, or has an id itself."""
    # Many lines are tried as the header; each cell of the sample is looked at once.
    seen: Seen = {}
    has_ids = any(MAYBE_AN_ID.search(line) for _, line in sample)
    for head, (_, line) in enumerate(sample[:_HEADS]):
        delimiter = delimiter_of(line)
        cells = cells_of(line, delimiter)
        if isinstance(cells, str):
            continue
        has_header = all(id_of(cell) is None for cell in cells)
        names = [column_name(cell) for cell in cells] if has_header else [""] * len(cells)
        below = iter(sample[head + has_header :] if has_ids else ())
        values = [_kinds_of(row, delimiter, seen) for row in rows(below, delimiter)]
        kinds = _by_column(values, width=len(names))
        column = _column_of_ids(names, kinds)
        if column is not None:
            name = cells[column].strip() if has_header else str(column + 1)
            return Place(delimiter, column, name, head + has_header, has_header)
        if any(map(_is_mostly_ids, kinds)):
            # This was the header after all, but the ids below it are of something else.
            return None
    return None


# What a cell contains: nothing, a short number, or what can only be a tweet; None: something else.
_EMPTY, NUMBER, _TWEET = 0, 1, 2
Kinds = Sequence[int | None]
# By line and delimiter: where a record that begins on a line ends depends on nothing else.
Seen = dict[tuple[int, str], Kinds]


def _kinds_of(row: Row, delimiter: str, seen: Seen) -> Kinds:
    """What the cells of a row contain."""
    kinds = seen.get((row.number, delimiter))
    if kinds is None:
        kinds = seen[row.number, delimiter] = [kind_of(cell) for cell in row.cells]
    return kinds


def kind_of(cell: str) -> int | None:
    if not cell.strip():
        return _EMPTY
    id = id_of(cell)
    if id is None:
        return None
    # In a tweet's address even a short id is one.
    return _TWEET if id > _LOOKS_LIKE_A_TWEET or not cell.strip().isdigit() else NUMBER


def _by_column(rows: Sequence[Kinds], *, width: int) -> list[Kinds]:
    """The non-empty cells of each column, from the lines of that width."""
    whole = [row for row in rows if len(row) == width]
    return [[row[n] for row in whole if row[n] != _EMPTY] for n in range(width)]


def _is_mostly_ids(kinds: Kinds) -> bool:
    return sum(kind is not None for kind in kinds) * 2 > len(kinds)


def _column_of_ids(names: Sequence[str], kinds: Sequence[Kinds]) -> int | None:
    """The column with a known name and an id in it; else one of mostly tweets; else one by name.

    Short numbers under another name are ages or counts, unless a person says that they are ids.
    """
    known = [names.index(name) for name in ID_COLUMNS if name in names]
    for column in known:
        if any(kinds[column]):
            return column
    mostly = [
        n
        for n, name in enumerate(names)
        if _is_mostly_ids(kinds[n]) and not any(word in name for word in _OF_SOMETHING_ELSE)
    ]
    tweets = [n for n in mostly if _TWEET in kinds[n]]
    # A single column without a name is a list of ids, however old the tweets are.
    return next(iter([*tweets, *(mostly if names == [""] else []), *known]), None)


def _place_named(sample: Sequence[tuple[int, str]], column: str) -> Place:
    """The column that the user named, or numbered from 1."""
    for head, (_, line) in enumerate(sample[:_HEADS]):
        delimiter = delimiter_of(line)
        cells = cells_of(line, delimiter)
        names = [] if isinstance(cells, str) else [column_name(cell) for cell in cells]
        if column_name(column) in names:
            return Place(delimiter, names.index(column_name(column)), column, head + 1, True)
    number = int(column) if column.isascii() and column.isdigit() and len(column) < 5 else 0
    delimiter = delimiter_of(sample[0][1])
    first = cells_of(sample[0][1], delimiter)
    if isinstance(first, str) or not 0 < number <= len(first):
        names = [] if isinstance(first, str) else [cell.strip() for cell in first]
        raise UnreadableError(
            f"There is no column {column}. The first line names: {', '.join(names)[:300]}"
        )
    has_header = id_of(first[number - 1]) is None
    return Place(delimiter, number - 1, column, int(has_header), has_header)


def delimiter_of(line: str) -> str:
    return max(",;\t", key=line.count)


def column_name(cell: str) -> str:
    return cell.strip().strip('"').lower().replace(" ", "_")
