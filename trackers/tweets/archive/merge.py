"""Small files of a month become one: what comes late is in a part of its own each time.

more than eight that fit into one ─> merged by id, a row group of each in memory ─> read back: as
many rows and the same sums as before? ─> in one transaction the new file counts, and they no longer
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Now

from trackers.tweets.archive.files import (
    INDEXES,
    begin_file,
    proven,
    register,
    writing_parquet,
)
from trackers.tweets.archive.layout import FileKind, kind_of_file, schema
from trackers.tweets.archive.lease import ArchiveError, Lease
from trackers.tweets.archive.models import StoredFile
from trackers.tweets.archive.proof import Contents
from trackers.tweets.archive.store import Store
from tweetwatch.pieces import Deadline

if TYPE_CHECKING:
    import pyarrow

_MOST_SMALL_FILES = 8
# Of a merged file, which is made within a task.
_MOST_ROWS, _MOST_TWEETS = 2_000_000, 200_000
_ROWS_PER_GROUP = 40_000
_ORDER = {
    FileKind.SAMPLES: ("id", "taken_at"),
    FileKind.FACTS: ("id",),
    FileKind.CHECKPOINTS: ("id", "age_seconds"),
}


def merge_small_files(store: Store, lease: Lease, deadline: Deadline) -> None:
    """Until time is up."""
    while not deadline.is_over and (files := _small_files()):
        _merge(store, lease, files)


def _small_files() -> list[StoredFile]:
    """More than eight of a month and kind that fit into one, the smallest first; empty: there are
    none."""
    for index in INDEXES:
        written = index.objects.filter(state=StoredFile.State.WRITTEN)
        months = written.values("month").annotate(files=Count("pk")).order_by("month")
        for month in months.filter(files__gt=_MOST_SMALL_FILES).values_list("month", flat=True):
            of_month = list(written.filter(month=month).order_by("samples", "path"))
            for kind in FileKind:
                chosen = _fitting([file for file in of_month if kind_of_file(file.path) is kind])
                if len(chosen) > _MOST_SMALL_FILES:
                    return chosen
    return []


def _fitting(files: Sequence[StoredFile]) -> list[StoredFile]:
    chosen: list[StoredFile] = []
    rows = tweets = 0
    for file in files:
        rows, tweets = rows + file.samples, tweets + file.tweets
        if rows > _MOST_ROWS or tweets > _MOST_TWEETS:
            break
        chosen.append(file)
    return chosen


def _merge(store: Store, lease: Lease, files: Sequence[StoredFile]) -> None:
    month, kind = files[0].month, kind_of_file(files[0].path)
    new, contents = begin_file(lease, month, kind), Contents(month, kind)
    with writing_parquet(store, new, contents) as add:
        for table in _row_groups(_merged(store, files, kind)):
            add(table)
            lease.renew()
    proof = proven(store, new, contents)
    if contents.samples != sum(file.samples for file in files) or contents.columns != _sums(files):
        raise ArchiveError(f"{new.path} in {store} has not what its parts have: it does not count.")
    with transaction.atomic():
        lease.renew()
        # What was erased since the first of them, it may have.
        register(new, proof, at=min(file.at for file in files))
        for file in files:
            file.state, file.at = StoredFile.State.REPLACED, Now()
            file.save(update_fields=["state", "at"])


def _merged(store: Store, files: Sequence[StoredFile], kind: FileKind) -> Iterator[pyarrow.Table]:
    """All rows in order, in pieces that have all rows of their tweets. In memory are the row groups
    whose ids overlap."""
    import pyarrow
    from pyarrow import compute, parquet

    groups = sorted(
        (first, place, number)
        for place, file in enumerate(files)
        for number, first in enumerate(file.first_ids)
    )
    with ExitStack() as stack:
        opened = [
            stack.enter_context(parquet.ParquetFile(stack.enter_context(store.open(file.path))))
            for file in files
        ]
        held = schema(kind).empty_table()
        for (_, place, number), (next_first, *_) in zip(
            groups, [*groups[1:], (None,)], strict=True
        ):
            group = opened[place].read_row_group(number).cast(schema(kind))
            held = pyarrow.concat_tables([held, group])
            if next_first is None:
                yield _in_order(held, kind)
                return
            is_whole = compute.less(held.column("id"), next_first)
            yield _in_order(held.filter(is_whole), kind)
            held = held.filter(compute.invert(is_whole))


def _in_order(table: pyarrow.Table, kind: FileKind) -> pyarrow.Table:
    return table.sort_by([(name, "ascending") for name in _ORDER[kind]])


def _row_groups(tables: Iterator[pyarrow.Table]) -> Iterator[pyarrow.Table]:
    """Of some 40,000 rows, and all of their tweets. A tweet is in one table."""
    import pyarrow
    from pyarrow import compute

    held: list[pyarrow.Table] = []
    for table in tables:
        ids = table.column("id").combine_chunks()
        start = 0
        for end in compute.run_end_encode(ids).run_ends.to_pylist():
            if sum(map(len, held)) + end - start >= _ROWS_PER_GROUP:
                yield pyarrow.concat_tables([*held, table.slice(start, end - start)])
                held, start = [], end
        if start < len(table):
            held.append(table.slice(start))
    if held:
        yield pyarrow.concat_tables(held)


def _sums(files: Sequence[StoredFile]) -> dict[str, dict[str, Any]]:
    """Of all columns of these files."""
    total: dict[str, dict[str, Any]] = {}
    for file in files:
        for name, summed in file.columns.items():
            of_column = total.setdefault(name, {"sum": 0, "unknown": 0})
            for key in of_column:
                of_column[key] += summed[key]
    return total
