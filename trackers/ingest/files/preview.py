"""How the parts of an import are read: by its format, and by what the user chose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from trackers.ingest.files.columns import MAYBE_AN_ID, ids_of_column
from trackers.ingest.files.dated_counts import dated_counts
from trackers.ingest.files.judge import JUDGED, doubt_about, doubt_about_column
from trackers.ingest.files.models import Import, ImportPart
from trackers.ingest.files.objects import AN_ACCOUNT
from trackers.ingest.files.parts import unpack
from trackers.ingest.files.read_table import read_rows
from trackers.ingest.files.recognise import READERS
from trackers.ingest.files.table import column_name, delimiter_of, rows
from trackers.ingest.files.tablehead import columns_of, place_below
from trackers.ingest.found_tweets import FoundTweet, Numbered, Options, Rejected
from trackers.ingest.tweet_ids import ids_in

_PLAIN = Options()
_SHOWN_TWEETS, _SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_CELL = 5, 5, 12, 60


@dataclass(frozen=True, slots=True)
class Preview:
    """What the first part of a file contains."""

    tweets: tuple[FoundTweet, ...]
    rejected: tuple[Rejected, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()  # a table's first ones, by its `columns`
    doubt: str = ""


def read_part(
    report: Import, lines: Numbered, *, column: int, referenced: bool, chosen: Options = _PLAIN
) -> Iterator[FoundTweet | Rejected]:
    """`column` counts from 1; only a table has one. `chosen`: what else a person chose."""
    if report.format == "csv":
        names = columns_of(report.header)
        counts = dated_counts(names, chosen.measured_at) if chosen.measured_at else None
        return read_rows(lines, place_below(report.header, column), counts)
    # Documents were already cut into one object per line.
    reader = READERS["jsonl" if report.format == "json" else report.format]
    return reader(lines, replace(chosen, referenced=referenced))


def chosen_for(report: Import) -> Options:
    """What a person chose when the import was started."""
    return Options(measured_at=report.measured_at or None, anyway=report.anyway)


def preview(
    report: Import, *, column: int | None, referenced: bool, chosen: Options = _PLAIN
) -> Preview:
    """Shows no tweets of a table until its column is chosen."""
    part = _first_part(report)
    if report.format != "csv":
        read = read_part(report, part, column=0, referenced=referenced, chosen=chosen)
        return Preview(*_firsts(read), doubt=doubt_of(report, column=None, referenced=referenced))
    delimiter = delimiter_of(report.header)
    cells = tuple(
        tuple(cell[:_SHOWN_CELL] for cell in row.cells[:_SHOWN_COLUMNS])
        for row in islice(rows(_first_part(report), delimiter), _SHOWN_ROWS)
        if not row.fault
    )
    read = read_part(report, part, column=column or 0, referenced=False, chosen=chosen)
    found = _firsts(read) if column else ((), ())
    doubt = doubt_of(report, column=column, referenced=False)
    return Preview(*found, columns=columns(report), rows=cells, doubt=doubt)


def doubt_of(report: Import, *, column: int | None, referenced: bool) -> str:
    """Why what the first part names are probably no tweets; empty where nothing speaks against
    them."""
    part = _first_part(report)
    if report.format == "csv":
        if not column:
            return ""
        place = place_below(report.header, column)
        names = [column_name(name) for name in columns_of(report.header)]
        return doubt_about_column(ids_of_column(part, place), place.name, names)
    found = read_part(report, part, column=0, referenced=referenced)
    tweets = (each for each in found if isinstance(each, FoundTweet) and not each.is_certain)
    ids = [tweet.id for tweet in islice(tweets, JUDGED)]
    return doubt_about(ids, is_list=report.format == "ids")


def tweets_to_look_up(
    report: Import, *, column: int | None, referenced: bool, chosen: Options = _PLAIN
) -> int:
    """About how many of its tweets come without counts of a known time, by its first part."""
    if report.format == "csv" and not column:
        return 0
    lines = list(_first_part(report))
    found = read_part(report, iter(lines), column=column or 0, referenced=referenced, chosen=chosen)
    undated = {
        each.id for each in found if isinstance(each, FoundTweet) and each.retrieved_at is None
    }
    return round(len(undated) * max(report.records, len(lines)) / max(len(lines), 1))


def has_counts(report: Import) -> bool:
    """Whether columns of a table are named like counts."""
    names = columns_of(report.header) if report.format == "csv" else []
    return bool(names) and any(count is not None for count in dated_counts(names, "1").counts)


def has_accounts(report: Import) -> bool:
    """Whether objects of the first part have a username, and are left out as accounts."""
    if report.format not in ("json", "jsonl"):
        return False
    read = read_part(report, _first_part(report), column=0, referenced=False)
    return any(isinstance(each, Rejected) and each.why.endswith(AN_ACCOUNT) for each in read)


def columns(report: Import) -> tuple[str, ...]:
    """The names of a table's columns, or their numbers."""
    return tuple(
        name[:_SHOWN_CELL] or f"column {place}"
        for place, name in enumerate(columns_of(report.header), start=1)
    )


def _firsts(
    stream: Iterator[FoundTweet | Rejected],
) -> tuple[tuple[FoundTweet, ...], tuple[Rejected, ...]]:
    """The first few found and rejected lines of a part."""
    tweets: list[FoundTweet] = []
    rejected: list[Rejected] = []
    for line in stream:
        if isinstance(line, FoundTweet):
            tweets.append(line)
            if len(tweets) == _SHOWN_TWEETS:
                break
        elif len(rejected) < _SHOWN_TWEETS:
            rejected.append(line)
    return tuple(tweets), tuple(rejected)


def first_lines(report: Import) -> list[tuple[int, str]]:
    return list(islice(_first_part(report), _SHOWN_ROWS))


def has_tweets(report: Import) -> bool:
    """Whether the first part has any; in any column if none is chosen."""
    if report.format == "csv" and not report.column:
        # One pass for all columns: there may be hundreds.
        if not any(MAYBE_AN_ID.search(line) for _, line in _first_part(report)):
            return False
        found = rows(_first_part(report), delimiter_of(report.header))
        return any(ids_in(cell).ids for row in found for cell in row.cells)
    return bool(preview(report, column=int(report.column or 0), referenced=True).tweets)


def _first_part(report: Import) -> Numbered:
    part = ImportPart.objects.filter(source=report.pk).order_by("first_line", "pk").first()
    return iter(()) if part is None else unpack(bytes(part.lines))
