"""Which reader a file's beginning asks for, and what to say of one without any tweet.

first line ─> a guess ─> finds nothing in the sample? the other readers are tried
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from trackers.ingest.files.columns import ID_COLUMNS, NUMBER, kind_of, place_of_ids
from trackers.ingest.files.documents import read_json, read_jsonl
from trackers.ingest.files.read_ids import is_remark, read_ids
from trackers.ingest.files.read_table import read_csv
from trackers.ingest.files.table import cells_of, column_name, delimiter_of
from trackers.ingest.found_tweets import (
    FoundTweet,
    Numbered,
    Options,
    Rejected,
    UnreadableError,
)
from trackers.ingest.tweet_ids import ids_in

READERS: Mapping[str, Callable[[Numbered, Options], Iterator[FoundTweet | Rejected]]] = {
    "ids": read_ids,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "json": read_json,
}
FORMATS = {
    "ids": "a list of ids or addresses",
    "csv": "a table (CSV)",
    "jsonl": "JSON with one value per line (JSONL)",
    "json": "a JSON document",
}
_LOOKED_FOR = {
    "ids": "ids and addresses of tweets, several per line too",
    "csv": "a column of ids or of addresses of tweets",
    "jsonl": "objects of tweets with an id",
    "json": "objects of tweets with an id",
}
# What is read ahead: a list needs its first line alone.
_MOST_LINES, _MOST_LETTERS = 2000, 1 << 20
_QUOTED_LINES, _QUOTED = 3, 60
# The name of a column, alone on its line.
_COLUMN_NAME = re.compile(r'"?[a-z_][a-z0-9_ ]{0,38}"?', re.IGNORECASE)
# The head of a tweet archive's file, or of JSON that is spread over many lines.
_SPREAD_JSON = re.compile(
    r"(?:(?:var|let|const)\s+)?[a-z_$][\w.$]*\s*=\s*(?:[\[{].*)?$|[\[{][\s\[{]*$", re.IGNORECASE
)


def recognise(lines: Numbered) -> tuple[str, Sequence[tuple[int, str]]]:
    """The format, and the lines that were read to recognise it; remarks before them are skipped.

    No lines: there is nothing but remarks.
    """
    first = next((line for line in lines if not is_remark(line[1])), None)
    if first is None:
        return "ids", []
    format = _guess(first[1].strip())
    # Further lines are awaited only where they are needed: at a terminal they come one by one.
    if format in ("ids", "jsonl") and _has_tweets(format, [first]):
        return format, [first]
    sample = [first, *_ahead(lines, len(first[1]))]
    for other in _to_try(format, sample):
        if _has_tweets(other, sample):
            return other, sample
    return ("csv" if format == "ids" and _is_column_of_numbers(sample) else format), sample


def _ahead(lines: Numbered, letters: int) -> Iterator[tuple[int, str]]:
    for _ in range(_MOST_LINES - 1):
        if letters > _MOST_LETTERS or (line := next(lines, None)) is None:
            return
        letters += len(line[1])
        yield line


def _guess(line: str) -> str:
    """By the first line alone."""
    if _SPREAD_JSON.match(line) or (line.startswith("[{") and line.endswith(("},", "}"))):
        return "json"
    if line.startswith(("{", "[")) and not (line.startswith("[") and ids_in(line).ids):
        return "jsonl"
    if ids_in(line).ids:
        return "ids"
    if any(c in line for c in ",;\t|") or column_name(line) in ID_COLUMNS:
        return "csv"
    return "ids"


def _to_try(format: str, sample: Sequence[tuple[int, str]]) -> list[str]:
    """The guess first. Where others' tweets are linked, in texts of a table and in what is nearly
    JSON, no line is searched for addresses. Of JSON only objects count where a text does not begin
    as JSON: a date begins with a number too."""
    has_objects = any("{" in line for _, line in sample)
    match format:
        case "ids":
            if _is_column_of_numbers(sample):
                return ["csv"]
            if _is_table(sample):
                return ["csv", "ids"]
            return ["ids", "jsonl", "json"] if has_objects else ["ids"]
        case "csv":
            if _has_columns(sample):
                return ["csv"]
            return ["csv", "ids", "jsonl"] if has_objects else ["csv", "ids"]
        case "jsonl":
            return ["jsonl", "json"] if "{" in sample[0][1] else ["jsonl"]
    return ["json", "jsonl"]


def _has_tweets(format: str, sample: Sequence[tuple[int, str]]) -> bool:
    options = Options(referenced=True, anyway=True)
    with suppress(UnreadableError):
        return any(isinstance(each, FoundTweet) for each in READERS[format](iter(sample), options))
    return False


def _is_table(sample: Sequence[tuple[int, str]]) -> bool:
    """Whether lines of which none names a tweet are a table, perhaps below a title."""
    return all(not ids_in(line).ids for _, line in sample) and place_of_ids(sample) is not None


def _is_column_of_numbers(sample: Sequence[tuple[int, str]]) -> bool:
    """A name, and below it short numbers alone: ages or counts, unless a person says otherwise."""
    (_, name), *below = sample
    return (
        bool(below)
        and _COLUMN_NAME.fullmatch(name.strip()) is not None
        and all(kind_of(line) == NUMBER for _, line in below)
    )


def _has_columns(sample: Sequence[tuple[int, str]]) -> bool:
    """Whether most lines have as many cells as the first."""
    delimiter = delimiter_of(sample[0][1])
    rows = [cells_of(line, delimiter) for _, line in sample]
    widths = [len(row) for row in rows if not isinstance(row, str)]
    return bool(widths) and widths[0] > 1 and widths.count(widths[0]) * 2 > len(rows)


def nothing_found(
    format: str, sample: Sequence[tuple[int, str]], *, is_uploaded: bool = False
) -> str:
    """Of a file without any tweet: what it looks like, what was looked for, and what to choose, on
    the page or by the command's options."""
    quoted = "; ".join(
        f"line {number}: {line.strip()[:_QUOTED]!r}" for number, line in sample[:_QUOTED_LINES]
    )
    choice = "choose another under “Read it as”, and upload it again"
    if not is_uploaded:
        choice = (
            "choose the column with the tweets (--column)"
            if format == "csv"
            else "choose another format (--format ids, csv, jsonl or json)"
        )
    return (
        f"It looks like {FORMATS[format]}; we looked for {_LOOKED_FOR[format]}. "
        f"It begins with {quoted}. If tweets are in it, {choice}."
    )
