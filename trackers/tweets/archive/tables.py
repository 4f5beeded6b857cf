"""What a file of the archive has of some tweets: only the row groups that may have it are read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO

from trackers.tweets.archive.layout import schema
from trackers.tweets.archive.store import Store
from trackers.tweets.models import METRICS

if TYPE_CHECKING:
    import pyarrow

# A sample in the order of the columns of the tables here.
Row = tuple[Any, ...]

# Of a file, so many row groups are in memory at once, as they are written: some 350 KB each.
_GROUPS_AT_ONCE = 8
# Nearer to the footer, a row group is read together with it.
_NEAR = 64 * 2**10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class IndexedFile:
    path: str
    month: date
    bytes: int
    places: list[int]  # of its row groups, and of its footer
    groups: list[int]  # those that may have some of the tweets
    ids: list[int]


def table_of(store: Store, file: IndexedFile, *, is_hasty: bool) -> pyarrow.Table:
    """Some row groups at a time: of each, only what these tweets have stays in memory."""
    import pyarrow
    from pyarrow import compute, parquet

    ids, tables = pyarrow.array(file.ids, pyarrow.int64()), []
    for place in range(0, len(file.groups), _GROUPS_AT_ONCE):
        groups = file.groups[place : place + _GROUPS_AT_ONCE]
        with (
            _open_pieces(store, file, groups, is_hasty=is_hasty) as source,
            parquet.ParquetFile(source) as opened,
        ):
            for group in groups:
                table = opened.read_row_group(group, columns=schema().names, use_threads=False)
                tables.append(table.filter(compute.is_in(table.column("id"), ids)))
    return pyarrow.concat_tables(tables)


@contextmanager
def _open_pieces(
    store: Store, file: IndexedFile, groups: Sequence[int], *, is_hasty: bool
) -> Iterator[BinaryIO]:
    """The file, of which only these row groups and the footer are there, with holes between them.

    They are read at once: a bucket takes the longer, the more often it is asked in turn.
    """
    wanted = [(file.places[group], file.places[group + 1]) for group in groups]
    ranges = _joined([*wanted, (file.places[-1], file.bytes)])
    with os.fdopen(os.memfd_create("parquet"), "w+b") as copy:
        pieces = store.read_ranges(file.path, ranges, is_hasty=is_hasty)
        for (start, _), piece in zip(ranges, pieces, strict=True):
            os.pwrite(copy.fileno(), piece, start)
        yield copy


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is near to each other as one."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and start - joined[-1][1] < _NEAR:
            start, _ = joined.pop()
        joined.append((start, end))
    return joined


def rows_of(table: pyarrow.Table) -> Iterator[Row]:
    import pyarrow

    ids = table.column("id").to_pylist()
    times = table.column("taken_at").cast(pyarrow.int64()).to_pylist()
    others = (table.column(name).to_pylist() for name in ("lasted_us", "measurements", *METRICS))
    for id, taken_us, lasted_us, *figures in zip(ids, times, *others, strict=True):
        taken_at = _EPOCH + timedelta(microseconds=taken_us)
        yield (id, taken_at, taken_at + timedelta(microseconds=lasted_us), *figures)
