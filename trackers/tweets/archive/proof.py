"""What a file has: counted while it is written, and counted again from the disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from trackers.tweets.archive.layout import SUMMED, FileKind, kind_of_file, schema
from trackers.tweets.archive.store import Store

if TYPE_CHECKING:
    import pyarrow

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HASHED_AT_ONCE = 2**20


@dataclass(slots=True)
class Contents:
    """Of a month. Equal contents: the same tweets with as many rows each, and the same sums in
    every column, or the same values in the same order."""

    month: date
    kind: FileKind = FileKind.SAMPLES
    samples: int = 0  # or rows of another kind
    # By tweet, how many rows; of each row group the first and the last.
    lengths: dict[int, int] = field(default_factory=dict)
    first_ids: list[int] = field(default_factory=list)
    last_ids: list[int] = field(default_factory=list)
    # By column: the sum of what is known, and how many are unknown. Times count from the beginning
    # of the month, so that millions of them fit.
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    taken_from: datetime | None = None
    # Of the columns of which there is no sum.
    digest: str = ""

    def add(self, table: pyarrow.Table) -> None:
        """A row group, which has all rows of its tweets."""
        from pyarrow import compute

        ids = table.column("id").combine_chunks()
        runs = compute.run_end_encode(ids)
        tweets, ends = runs.values.to_pylist(), runs.run_ends.to_pylist()
        starts = [0, *ends[:-1]]
        self.lengths.update(
            (id, end - start) for id, start, end in zip(tweets, starts, ends, strict=True)
        )
        self.samples += len(ids)
        self.first_ids.append(tweets[0])
        self.last_ids.append(tweets[-1])
        for name in SUMMED[self.kind]:
            self._sum_up(name, table.column(name))
        if self.kind is FileKind.SAMPLES:
            self._add_times(table)
        else:
            self._digest_others(table)

    def _add_times(self, table: pyarrow.Table) -> None:
        import pyarrow
        from pyarrow import compute

        began = datetime(self.month.year, self.month.month, 1, tzinfo=UTC)
        times = table.column("taken_at").cast(pyarrow.int64())
        first = _EPOCH + compute.min(times).as_py() * _MICROSECOND
        self.taken_from = min(first, self.taken_from or first)
        self._sum_up("taken_at", compute.subtract(times, (began - _EPOCH) // _MICROSECOND))

    def _digest_others(self, table: pyarrow.Table) -> None:
        import pyarrow

        digest = hashlib.sha256(self.digest.encode())
        for name in schema(self.kind).names:
            if name in SUMMED[self.kind]:
                continue
            column = table.column(name)
            if pyarrow.types.is_timestamp(column.type):
                column = column.cast(pyarrow.int64())
            digest.update(orjson.dumps(column.to_pylist()))
        self.digest = digest.hexdigest()

    def _sum_up(self, name: str, column: Any) -> None:
        from pyarrow import compute

        summed = self.columns.setdefault(name, {"sum": 0, "unknown": 0})
        summed["sum"] += compute.sum(column).as_py() or 0
        summed["unknown"] += column.null_count


@dataclass(frozen=True, slots=True)
class Proof:
    """What was read back."""

    contents: Contents
    bytes: int
    sha256: str
    # Where each row group begins; after them, where the footer does.
    places: list[int]


def read_back(store: Store, path: str, month: date) -> Proof:
    """All of a file, a row group at a time. OSError, or pyarrow's ArrowInvalid: it is damaged."""
    from pyarrow import parquet

    contents = Contents(month, kind_of_file(path))
    with store.open(path) as file:
        digest, size = hashlib.sha256(), 0
        while block := file.read(_HASHED_AT_ONCE):
            digest.update(block)
            size += len(block)
        file.seek(0)
        with parquet.ParquetFile(file) as opened:
            for number in range(opened.num_row_groups):
                contents.add(opened.read_row_group(number))
            places = _places(opened.metadata, size)
    return Proof(contents, size, digest.hexdigest(), places)


def _places(metadata: pyarrow.parquet.FileMetaData, size: int) -> list[int]:
    """After the footer come its length, in four bytes, and `PAR1`."""
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    starts = [group.column(0).data_page_offset for group in groups]
    return [*starts, size - 8 - metadata.serialized_size]
