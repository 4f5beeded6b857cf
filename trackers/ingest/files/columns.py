"""Which column of a table holds the tweets: guessed from the names and the values of a sample."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trackers.ingest.files.judge import SAMPLE, are_rounded, doubt_about_column
from trackers.ingest.files.table import Row, cells_of, column_name, delimiter_of, rows
from trackers.ingest.found_tweets import UnreadableError
from trackers.ingest.tweet_ids import ids_in

# The clearest names first: beside one of these, `id` is often the row's own number, or 1.2E+18 if
# it went through a spreadsheet, and `tweet` is the text.
ID_COLUMNS = (
    "tweet_id", "id_str", "tweetid", "tweet_ids", "status_id", "post_id", "id", "tweet_url",
    "tweet_link", "post_link", "permalink", "url", "link", "tweet",
)  # fmt: skip
# Names that say of an id what it is of.
_SAY_IT = {"tweet_id", "tweetid", "tweet_ids", "status_id", "post_id", "id_str"}
# Ids of something else, or texts in which others' tweets are linked; looking those up would only
# cost money.
_OF_SOMETHING_ELSE = (
    "user", "author", "account", "conversation", "repl", "quote", "retweet", "referenced",
    "parent", "media", "place", "list", "noteid", "note_id", "text", "content", "message", "body",
    "snippet", "hashtag", "bio", "mention", "expanded", "entities", "thread", "sender", "recipient",
    "follower", "profile",
)  # fmt: skip
# How many lines down a file's header may be.
_HEADS = 50
# Tweet ids have been this long since 2010.
_LOOKS_LIKE_A_TWEET = 10**14
# A cell that might be an id or an address, in a line that is not cut into cells yet.
MAYBE_AN_ID = re.compile(
    r'[0-9]{15}|(?:^|[,;\t|"\s])[0-9]{1,14}(?:$|[,;\t|"\s])|/status', re.IGNORECASE
)

# What a cell contains: nothing, a short number, what can only be a tweet, a tweet's address; None:
# something else.
_EMPTY, NUMBER, _TWEET, _ADDRESS = range(4)


class Cell(NamedTuple):
    kind: int | None
    ids: tuple[int, ...] = ()


# By line and delimiter: where a record that begins on a line ends depends on nothing else.
_Seen = dict[tuple[int, str], Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tweets are."""

    delimiter: str
    column: int
    name: str
    head: int  # how many lines come before them, header included
    has_header: bool
    # Others that may hold the address of the row's tweet, where the column holds no certain one.
    others: tuple[int, ...] = ()
    doubt: str = ""  # why these are probably no tweets


def kind_of(text: str) -> int | None:
    return _look_at(text).kind


def _look_at(text: str) -> Cell:
    if not text.strip():
        return Cell(_EMPTY)
    named = ids_in(text, alone=True)
    if not named.ids:
        return Cell(None)
    if named.is_address:
        return Cell(_ADDRESS, named.ids)
    return Cell(_TWEET if max(named.ids) > _LOOKS_LIKE_A_TWEET else NUMBER, named.ids)


def place_of_ids(sample: Sequence[tuple[int, str]]) -> Place | None:
    """The place by the first line that heads a column of ids, or has an id itself."""
    # Many lines are tried as the header; each cell of the sample is looked at once.
    seen: _Seen = {}
    has_ids = any(MAYBE_AN_ID.search(line) for _, line in sample)
    for head, (_, line) in enumerate(sample[:_HEADS]):
        delimiter = delimiter_of(line)
        cells = cells_of(line, delimiter)
        if isinstance(cells, str):
            continue
        has_header = is_header(cells)
        names = [column_name(cell) for cell in cells] if has_header else [""] * len(cells)
        below = iter(sample[head + has_header :] if has_ids else ())
        values = [_cells_of_row(row, delimiter, seen) for row in rows(below, delimiter)]
        columns = _by_column(values, width=len(names))
        column = _column_of_ids(names, columns)
        if column is not None:
            name = cells[column].strip() if has_header else str(column + 1)
            ids = [id for cell in columns[column] for id in cell.ids]
            is_certain = any(cell.kind == _ADDRESS for cell in columns[column])
            doubt = "" if is_certain else doubt_about_column(ids, names[column], names)
            others = other_columns(names, column)
            return Place(delimiter, column, name, head + has_header, has_header, others, doubt)
        if any(map(_is_mostly_ids, columns)):
            # This was the header after all, but the ids below it are of something else.
            return None
    return None


def is_header(cells: Sequence[str]) -> bool:
    return all(not ids_in(cell, alone=True).ids for cell in cells)


def other_columns(names: Sequence[str], column: int) -> tuple[int, ...]:
    """Those that may hold the address of the row's own tweet."""
    return tuple(
        n for n, name in enumerate(names) if n != column and not _is_of_something_else(name)
    )


def _is_of_something_else(name: str) -> bool:
    return any(word in name for word in _OF_SOMETHING_ELSE)


def _cells_of_row(row: Row, delimiter: str, seen: _Seen) -> Sequence[Cell]:
    """What the cells of a row contain."""
    cells = seen.get((row.number, delimiter))
    if cells is None:
        cells = seen[row.number, delimiter] = [_look_at(cell) for cell in row.cells]
    return cells


def _by_column(table: Sequence[Sequence[Cell]], *, width: int) -> list[Sequence[Cell]]:
    """The non-empty cells of each column, from the lines of that width."""
    whole = [row for row in table if len(row) == width]
    return [[row[n] for row in whole if row[n].kind != _EMPTY] for n in range(width)]


def _is_mostly_ids(cells: Sequence[Cell]) -> bool:
    return sum(cell.kind is not None for cell in cells) * 2 > len(cells)


def _column_of_ids(names: Sequence[str], columns: Sequence[Sequence[Cell]]) -> int | None:
    """The column with a known name and tweets in it; else one of mostly tweets; else one by name.

    What was rounded comes last, and addresses before numbers that name others. Short numbers under
    another name are ages or counts, unless a person says that they are ids.
    """
    known = [names.index(name) for name in ID_COLUMNS if name in names]
    mostly = [
        n
        for n, name in enumerate(names)
        if _is_mostly_ids(columns[n]) and not _is_of_something_else(name)
    ]
    kinds = [{cell.kind for cell in cells} for cells in columns]
    ids = [[id for cell in cells for id in cell.ids] for cells in columns]
    tweets = [n for n in known if _TWEET in kinds[n] or _ADDRESS in kinds[n]]
    tweets += [n for n in mostly if _TWEET in kinds[n] or _ADDRESS in kinds[n]]
    sound = [n for n in tweets if _ADDRESS in kinds[n] or not are_rounded(ids[n])]
    addresses = [n for n in sound if _ADDRESS in kinds[n] and n in mostly]
    # `id` is an account's, or the row's.
    is_vague = bool(sound) and names[sound[0]] not in _SAY_IT
    if is_vague and addresses and not {*ids[sound[0]]} & {*ids[addresses[0]]}:
        return addresses[0]
    # A single column without a name is a list of ids, however old the tweets are.
    numbers = [n for n in known if any(cell.kind for cell in columns[n])]
    single = mostly if [*names] == [""] else []
    return next(iter([*sound, *tweets, *numbers, *single, *known]), None)


def place_named(sample: Sequence[tuple[int, str]], column: str) -> Place:
    """The column that the user named, or numbered from 1."""
    for head, (_, line) in enumerate(sample[:_HEADS]):
        delimiter = delimiter_of(line)
        cells = cells_of(line, delimiter)
        names = [] if isinstance(cells, str) else [column_name(cell) for cell in cells]
        if column_name(column) in names:
            return _judged(
                Place(delimiter, names.index(column_name(column)), column, head + 1, True), sample
            )
    number = int(column) if column.isascii() and column.isdigit() and len(column) < 5 else 0
    delimiter = delimiter_of(sample[0][1])
    first = cells_of(sample[0][1], delimiter)
    if isinstance(first, str) or not 0 < number <= len(first):
        raise _no_such_column(column, first)
    has_header = not ids_in(first[number - 1]).ids
    return _judged(Place(delimiter, number - 1, column, int(has_header), has_header), sample)


def _no_such_column(column: str, first: Sequence[str] | str) -> UnreadableError:
    names = [] if isinstance(first, str) else [cell.strip() for cell in first]
    return UnreadableError(
        f"There is no column {column}. The first line names: {', '.join(names)[:300]}"
    )


def _judged(place: Place, sample: Sequence[tuple[int, str]]) -> Place:
    """A person's choice is only doubted where its digits are lost."""
    ids = ids_of_column(iter(sample[place.head :]), place)
    doubt = doubt_about_column(ids, "chosen", ()) if are_rounded(ids) else ""
    return Place(
        place.delimiter, place.column, place.name, place.head, place.has_header, doubt=doubt
    )


def ids_of_column(lines: Iterator[tuple[int, str]], place: Place) -> list[int]:
    """The ids of a column in the first rows that are no addresses."""
    ids: list[int] = []
    for count, row in enumerate(rows(lines, place.delimiter)):
        if count == SAMPLE:
            break
        named = ids_in(row.cells[place.column]) if place.column < len(row.cells) else ids_in("")
        ids += () if named.is_address else named.ids
    return ids
