"""Tweets of a table: of the column that holds them, or by an address elsewhere in the row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from trackers.ingest.files.columns import Place, place_named, place_of_ids
from trackers.ingest.files.dated_counts import DatedCounts, dated_counts
from trackers.ingest.files.judge import SAMPLE
from trackers.ingest.files.table import Row, cells_of, rows
from trackers.ingest.found_tweets import (
    MAX_QUOTED_LENGTH,
    DoubtError,
    FoundTweet,
    Numbered,
    Options,
    Rejected,
    UnreadableError,
)
from trackers.ingest.tweet_ids import CUT_OFF, ROUNDED_THERE, Named, ids_in, is_rounded

# Ids of fewer digits may be the row's own number.
_SHORT = 10**14


def read_csv(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    """Tweets of one column; lines before its header, or before the first id, are rejected.

    Raises UnreadableError if the column is unknown: a rejection of each line would not help.
    """
    sample = list(islice(lines, SAMPLE))
    if not sample:
        return
    place = place_named(sample, options.column) if options.column else place_of_ids(sample)
    if place is None:
        raise UnreadableError(
            "We could not tell which column holds the tweets. Give its name or number with "
            f"--column. The first line is: {sample[0][1].strip()[:MAX_QUOTED_LENGTH]}"
        )
    if place.doubt and not options.anyway:
        raise DoubtError(f"Column {place.name}: {place.doubt}.")
    counts = None
    if options.measured_at:
        counts = dated_counts(_names_above(sample, place), options.measured_at)
    options.on_note(f"column {place.name} holds the tweets")
    for number, line in sample[: place.head - place.has_header]:
        yield Rejected(number, line[:MAX_QUOTED_LENGTH], "comes before the table")
    yield from read_rows(chain(sample[place.head :], lines), place, counts)


def _names_above(sample: Sequence[tuple[int, str]], place: Place) -> Sequence[str]:
    """What the columns are called; their numbers where there is no head."""
    line = sample[place.head - place.has_header][1]
    cells = cells_of(line, place.delimiter)
    if isinstance(cells, str):
        return ()
    return cells if place.has_header else [""] * len(cells)


def read_rows(
    lines: Numbered, place: Place, counts: DatedCounts | None = None
) -> Iterator[FoundTweet | Rejected]:
    """Tweets of a table's lines after its head; with `counts` those of a row that names one."""
    for row in rows(lines, place.delimiter):
        quoted = row.text[:MAX_QUOTED_LENGTH]
        if row.fault:
            yield Rejected(row.number, quoted, f"is not a line of CSV: {row.fault}")
            continue
        named = _named_in(row, place)
        if not named.ids:
            yield Rejected(row.number, quoted, _why_not(row, place.column))
        for id in named.ids:
            tweet = FoundTweet(id, is_certain=named.is_address)
            if counts is not None and len(named.ids) == 1:
                tweet = counts.with_counts(tweet, row)
            yield tweet
        if named.cut_off:
            yield Rejected(row.number, named.cut_off[:MAX_QUOTED_LENGTH], CUT_OFF)


def _named_in(row: Row, place: Place) -> Named:
    """What the column names; of what is not certain, an address elsewhere in the row decides."""
    named = ids_in(row.cells[place.column]) if place.column < len(row.cells) else Named()
    if named.is_address or (named.ids and max(named.ids) >= _SHORT):
        return named
    for column in place.others:
        other = ids_in(row.cells[column], alone=True) if column < len(row.cells) else Named()
        if other.is_address:
            return other
    return named


def _why_not(row: Row, column: int) -> str:
    cell = row.cells[column] if column < len(row.cells) else ""
    return ROUNDED_THERE if is_rounded(cell) else f"has no id in column {column + 1}"
