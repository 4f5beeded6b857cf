"""The index in the database: a file is begun, counts once it is registered, and is removed when it
was not finished, or was replaced."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.backends.postgresql.psycopg_any import NumericRange
from django.db.models import F
from django.db.models.functions import Now

from trackers.tweets.archive.layout import (
    FileKind,
    kind_of_file,
    part_path,
    schema,
    writing_options,
)
from trackers.tweets.archive.lease import ArchiveError, Lease
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth, CompanionFile, StoredFile
from trackers.tweets.archive.proof import Contents, Proof, read_back
from trackers.tweets.archive.store import Store

if TYPE_CHECKING:
    import pyarrow

INDEXES: tuple[type[ArchiveFile] | type[CompanionFile], ...] = (ArchiveFile, CompanionFile)


def index_of(kind: FileKind) -> type[ArchiveFile] | type[CompanionFile]:
    return ArchiveFile if kind is FileKind.SAMPLES else CompanionFile


def begin_file(lease: Lease, month: date, kind: FileKind = FileKind.SAMPLES) -> StoredFile:
    with transaction.atomic():
        lease.renew()
        ArchiveMonth.objects.get_or_create(month=month)
        # The manifest has this number too.
        ArchiveMonth.objects.filter(month=month).update(parts=F("parts") + 1, manifest_is_due=True)
        number = ArchiveMonth.objects.get(month=month).parts
        path = part_path(kind, month, number)
        return index_of(kind).objects.create(path=path, month=month, at=Now())


@contextmanager
def writing_parquet(
    store: Store, file: StoredFile, contents: Contents
) -> Iterator[Callable[[pyarrow.Table], None]]:
    """A function that adds a row group, if it has any row."""
    from pyarrow import parquet

    kind = kind_of_file(file.path)
    with (
        store.writing(file.path) as out,
        parquet.ParquetWriter(out, schema(kind), **writing_options(kind)) as writer,
    ):

        def add(table: pyarrow.Table) -> None:
            if len(table):
                writer.write_table(table, row_group_size=len(table))
                contents.add(table)

        yield add


def proven(store: Store, file: StoredFile, contents: Contents) -> Proof:
    """What was read back. ArchiveError: it is not what was written."""
    proof = read_back(store, file.path, file.month)
    if proof.contents != contents:
        raise ArchiveError(
            f"{file.path} in {store} does not read as it was written, so it does not count."
        )
    return proof


def ids_between(store: Store, file: StoredFile, ids: Sequence[int]) -> Iterator[pyarrow.Array]:
    """The ids of each row group that may have any of these, which are in order."""
    from pyarrow import parquet

    groups = [
        number
        for number, (first, last) in enumerate(zip(file.first_ids, file.last_ids, strict=True))
        if bisect_left(ids, first) < bisect_right(ids, last)
    ]
    with store.open(file.path) as source, parquet.ParquetFile(source) as opened:
        for number in groups:
            yield opened.read_row_group(number, columns=["id"]).column("id").combine_chunks()


def register(file: StoredFile, proof: Proof, *, at: datetime | None = None) -> None:
    """From the end of the transaction on, the file counts. `at`: it has nothing of what was erased
    until then."""
    contents, index = proof.contents, index_of(kind_of_file(file.path))
    fields = {} if index is CompanionFile else {"taken_from": contents.taken_from}
    index.objects.filter(pk=file.pk).update(
        state=StoredFile.State.WRITTEN,
        at=at or Now(),
        bytes=proof.bytes,
        sha256=proof.sha256,
        samples=contents.samples,
        tweets=len(contents.lengths),
        columns=contents.columns,
        ids=NumericRange(contents.first_ids[0], contents.last_ids[-1], "[]"),
        first_ids=contents.first_ids,
        last_ids=contents.last_ids,
        places=proof.places,
        **fields,
    )
    ArchiveMonth.objects.filter(month=file.month).update(manifest_is_due=True)


def remove_unfinished(store: Store) -> None:
    """What a process that died had begun, and files that were replaced: whoever looked one of
    those up looks again."""
    for index in INDEXES:
        for file in index.objects.exclude(state=StoredFile.State.WRITTEN):
            store.remove(file.path)
            file.delete()
