"""Workbooks and Parquet files as CSV, read by a process of its own: they need their whole memory.

file ─> its kind, by the first bytes ─> python -m trackers.ingest.files.sheets KIND ─> lines of CSV
The process has a bound of memory, of time and of rows, knows none of our secrets, and one that dies
takes nothing else with it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, cast

from trackers.ingest.found_tweets import UnreadableError
from trackers.ingest.tweet_ids import has_a_time, ids_in

_PROJECT = Path(__file__).resolve().parents[3]
MOST_MEMORY = 2 << 30
_MOST_SECONDS = 600  # of a processor
# What a program needs to start; our keys and the database's password stay here.
_PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TMPDIR")
# Of one sheet, as Excel has it.
MOST_ROWS = 1_048_576
# Each sheet's first rows say how many tweets are in it.
_LOOKED_AT = 200
# What a double holds: Excel rounds all longer numbers itself.
_EXACT = 10**15
_OLD_WORKBOOK, _PARQUET, _ZIP = b"\xd0\xcf\x11\xe0", b"PAR1", b"PK\x03\x04"
_OPEN_SHEET = b"application/vnd.oasis.opendocument.spreadsheet"
_REFUSED = 3
_DIED = (
    "It needs more than 2 GB of memory or ten minutes to be read, or is damaged. Save the sheet as "
    "CSV, with the column of ids as text."
)
ROUNDS = "Spreadsheets round numbers of more than 15 digits: ids have to be texts or links in it."
NEEDS_SEEKING = (_OLD_WORKBOOK, _PARQUET, _ZIP)
NO_PARQUET = "It is a Parquet file, for which pyarrow is not installed. Export it as CSV."


def kind_of_sheet(file: BinaryIO) -> str:
    """Of a file that can seek, which stands at its beginning again; empty for all others."""
    file.seek(0)
    head = file.read(4)
    kind = "parquet" if head == _PARQUET else "workbook" if head == _OLD_WORKBOOK else ""
    if head == _ZIP:
        try:
            names = set(zipfile.ZipFile(file).namelist())
            is_open = "mimetype" in names and zipfile.ZipFile(file).read("mimetype") == _OPEN_SHEET
            if any(name.startswith("xl/") for name in names) or is_open:
                kind = "workbook"
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError):
            kind = ""
    file.seek(0)
    return kind


class SheetLines(io.RawIOBase):
    """The sheet as CSV. Raises UnreadableError where the process refuses it, or dies of it."""

    def __init__(self, file: BinaryIO, kind: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "trackers.ingest.files.sheets", kind],
            stdin=_on_disk(file),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_PROJECT,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)
        assert self._process.stdout is not None
        read = cast("io.BufferedReader", self._process.stdout).read1(len(room))
        room[: len(read)] = read
        if not read and (code := self._process.wait()):
            assert self._process.stderr is not None
            said = self._process.stderr.read().decode("utf-8", "replace").strip()
            raise UnreadableError(said if code == _REFUSED else _DIED)
        return len(read)

    def close(self) -> None:
        if not self.closed:
            self._process.kill()
            self._process.communicate()
        super().close()


def _on_disk(file: BinaryIO) -> BinaryIO:
    """A process can be given what has a descriptor."""
    file.seek(0)
    try:
        # What was read ahead of it here is not there for the process.
        os.lseek(file.fileno(), 0, os.SEEK_SET)
    except (OSError, AttributeError):
        kept = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
        shutil.copyfileobj(file, kept)
        kept.flush()
        kept.seek(0)
        return kept
    return file


# From here on: the process.


def _rows_of_workbook(file: BinaryIO) -> Iterator[list[Any]]:
    """Of the sheet with the most tweets in its first rows."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        book = CalamineWorkbook.from_filelike(file)
        sheets = [book.get_sheet_by_name(name) for name in book.sheet_names]
        if not sheets:
            raise UnreadableError("There is no sheet in this workbook.")
        best = max(sheets, key=lambda sheet: _count_tweets(sheet.iter_rows()))
        if best.total_height > MOST_ROWS:
            raise UnreadableError(f"The sheet has more than {MOST_ROWS:,} rows. Save it as CSV.")
        yield from best.iter_rows()
    except PasswordError:
        raise UnreadableError("It is protected by a password.") from None
    except CalamineError as fault:
        raise UnreadableError(f"It is a damaged workbook, or a document: {fault}.") from None


def _count_tweets(rows: Iterator[list[Any]]) -> int:
    count = 0
    for place, row in enumerate(rows):
        if place == _LOOKED_AT:
            break
        for cell in row:
            named = ids_in(_cell_text(cell), alone=True)
            count += bool(named.ids) and (named.is_address or has_a_time(named.ids[0]))
    return count


def _rows_of_parquet(file: BinaryIO) -> Iterator[list[Any]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise UnreadableError(NO_PARQUET) from None
    try:
        table = ParquetFile(file)
        yield table.schema_arrow.names
        for batch in table.iter_batches(batch_size=1000):
            columns = [column.to_pylist() for column in batch.columns]
            yield from map(list, zip(*columns, strict=True))
    except (ArrowException, OSError) as fault:
        raise UnreadableError(f"It is a damaged Parquet file: {fault}.") from None


def _cell_text(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case float() if cell.is_integer() and abs(cell) < _EXACT:
            return str(int(cell))
        case float() if cell.is_integer():
            # The digits that the workbook has; others would be those of a double.
            return str(int(Decimal(f"{cell:.15g}")))
        case dict() | list():
            return json.dumps(cell, default=str)
        case _:
            return str(cell)


def _write(kind: str) -> int:
    # Rows are written with \n alone; a cell's own line ends stay in its quotes.
    out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="replace", newline="")
    writer = csv.writer(out, lineterminator="\n")
    file = cast("BinaryIO", sys.stdin.buffer)
    rows = _rows_of_parquet(file) if kind == "parquet" else _rows_of_workbook(file)
    try:
        for row in rows:
            writer.writerow([_cell_text(cell) for cell in row])
        out.flush()
    except UnreadableError as fault:
        sys.stderr.write(str(fault))
        return _REFUSED
    return 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    sys.exit(_write(sys.argv[1]))
