"""A table as a file: CSV, JSONL or Parquet, sent while it is read.

Table (columns, rows) ─> table_response(table, "csv") ─> a response that streams

The rows come from a generator, a piece at a time, so memory does not grow with them.

One dialect of CSV, as the commands write it: UTF-8, commas, quotes only where they are needed, a
line feed after each line, names in the first one. An unknown value is empty, a time is ISO 8601 in
UTC, and an id is text. Text that a spreadsheet would run as a formula begins with an apostrophe; in
JSONL and Parquet it is as it was.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import Any, Literal

import orjson
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from tweetwatch import notation
from tweetwatch.clock_times import iso


class _Echo:
    """A file for csv to write to, which hands each line back."""

    def write(self, line: str) -> str:
        return line


# Some spreadsheets also accept the full-width forms of Chinese, Japanese and Korean.
FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


def _without_formula(text: str) -> str:
    """Text that no spreadsheet treats as a formula."""
    return f"'{text}" if text.startswith(FORMULAS) else text


ColumnKind = Literal["id", "text", "whole", "number", "yes_no", "time"]
# Lines that are sent together, and rows of a row group in Parquet.
_LINES_PER_BLOCK, ROWS_PER_GROUP = 500, 10_000
_MAX_NAME_LENGTH = 100

NO_PARQUET = (
    "Parquet files need the package pyarrow, which is not installed here. Choose CSV or JSONL, or "
    "have it installed with pip install -r requirements-parquet.txt."
)


@dataclass(frozen=True, slots=True)
class Column:
    """`id`: a number as text, since JSON readers and spreadsheets round those of X."""

    name: str
    kind: ColumnKind


@dataclass(frozen=True, slots=True)
class Table:
    """Rows are as long as the columns; None is unknown."""

    name: str  # of the file, without its date and ending
    columns: Sequence[Column]
    rows: Iterable[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Form:
    label: str  # on the link
    content_type: str
    write: Callable[[Table], Iterator[bytes]]


def table_response(table: Table, form: str) -> StreamingHttpResponse:
    """The table in one of FORMS."""
    chosen = FORMS[form]
    return StreamingHttpResponse(
        chosen.write(table),
        content_type=chosen.content_type,
        headers=file_headers(table.name, form),
    )


def file_headers(name: str, form: str) -> dict[str, str]:
    """Named after what is in it and the reader's day: tweets-tag-launch-2026-11-28.csv."""
    words = slugify(name, allow_unicode=True)[:_MAX_NAME_LENGTH].rstrip("-")
    today = notation.local(timezone.now()).date()
    # None only for a name without any letter of ours, and ours begins with a word.
    header = content_disposition_header(as_attachment=True, filename=f"{words}-{today}.{form}")
    return {"Content-Disposition": header or "attachment"}


def has_parquet() -> bool:
    return find_spec("pyarrow") is not None


def _as_csv(table: Table) -> Iterator[bytes]:
    writer = csv.writer(_Echo(), lineterminator="\n")
    kinds = [column.kind for column in table.columns]
    yield writer.writerow([column.name for column in table.columns]).encode()
    for rows in _row_pieces(table.rows, _LINES_PER_BLOCK):
        lines = (writer.writerow(list(map(_csv_value, kinds, row))) for row in rows)
        yield "".join(lines).encode()


def _csv_value(kind: ColumnKind, value: Any) -> Any:
    if value is None:
        return ""
    if kind == "text":
        return _without_formula(str(value))
    if kind == "time":
        return iso(value, to="microseconds")
    if kind == "yes_no":
        return "true" if value else "false"
    return value


def _as_jsonl(table: Table) -> Iterator[bytes]:
    names = [column.name for column in table.columns]
    kinds = [column.kind for column in table.columns]
    for rows in _row_pieces(table.rows, _LINES_PER_BLOCK):
        yield b"".join(
            orjson.dumps(dict(zip(names, map(_json_value, kinds, row), strict=True))) + b"\n"
            for row in rows
        )


def _json_value(kind: ColumnKind, value: Any) -> Any:
    if value is None:
        return None
    if kind == "id":
        return str(value)
    return iso(value, to="microseconds") if kind == "time" else value


def _as_parquet(table: Table) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    types = {
        "id": pyarrow.string(), "text": pyarrow.string(), "whole": pyarrow.int64(),
        "number": pyarrow.float64(), "yes_no": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
    }  # fmt: skip
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in table.columns])
    kinds = [column.kind for column in table.columns]
    written = PieceFile()
    with parquet.ParquetWriter(pyarrow.PythonFile(written, mode="w"), schema) as writer:
        for rows in _row_pieces(table.rows, ROWS_PER_GROUP):
            values = [
                [str(row[place]) if kind == "id" and row[place] is not None else row[place]
                 for row in rows]
                for place, kind in enumerate(kinds)
            ]  # fmt: skip
            writer.write_table(pyarrow.table(values, schema=schema))
            yield written.taken()
    yield written.taken()


class PieceFile:
    """A file for pyarrow to write to; what was written is taken piece by piece."""

    closed = False

    def __init__(self) -> None:
        self.length = 0
        self.waiting = bytearray()

    def write(self, data: bytes) -> int:
        self.waiting += data
        self.length += len(data)
        return len(data)

    def tell(self) -> int:
        return self.length

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def taken(self) -> bytes:
        data = bytes(self.waiting)
        self.waiting.clear()
        return data


def _row_pieces(rows: Iterable[Sequence[Any]], most: int) -> Iterator[list[Sequence[Any]]]:
    iterator = iter(rows)
    while piece := list(islice(iterator, most)):
        yield piece


FORMS = {
    "csv": Form("CSV", "text/csv; charset=utf-8", _as_csv),
    "jsonl": Form("JSONL", "application/x-ndjson", _as_jsonl),
    "parquet": Form("Parquet", "application/vnd.apache.parquet", _as_parquet),
}
