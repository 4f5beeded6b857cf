"""What people remove: reads leave it out at once, and the files that have it are made anew.

untracked, in the same transaction ─┐
`archive erase` ────────────────────┴─> noted ─> every hour: each file that has some, without them
─> none has any: a receipt, and they are no longer noted
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models.functions import Now

from trackers.tweets.archive.layout import schema, writing_options
from trackers.tweets.archive.lease import ArchiveError, Lease, writing_to
from trackers.tweets.archive.manifests import write_due_manifests
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth, ErasedTweet
from trackers.tweets.archive.proof import Contents, read_back
from trackers.tweets.archive.receipts import TWEETS_PER_RECEIPT, write_receipt
from trackers.tweets.archive.store import Store
from trackers.tweets.archive.write import begin_file, register, remove_unfinished
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline

if TYPE_CHECKING:
    import pyarrow

# Only those that an archived file may have, since hardly any does. By the clock: a file for which
# this statement had to wait is older.
ERASE_ARCHIVED = """
    INSERT INTO trackers_erasedtweet (tweet_id, at)
    SELECT asked.id, clock_timestamp() FROM unnest(%(ids)s::bigint[]) AS asked(id)
    WHERE EXISTS (SELECT FROM trackers_archivefile
                  WHERE state = 'written' AND ids @> asked.id)
    ORDER BY asked.id
    ON CONFLICT (tweet_id) DO NOTHING
"""
_COUNT_ARCHIVED = """
    SELECT count(*) FROM unnest(%(ids)s::bigint[]) AS asked(id)
    WHERE EXISTS (SELECT FROM trackers_archivefile
                  WHERE state = 'written' AND ids @> asked.id)
"""
_NOTE = f"WITH noted AS ({ERASE_ARCHIVED} RETURNING 1) SELECT count(*) FROM noted"
_IDS_PER_STATEMENT = 10_000
# Of the files that may have some of them, those not looked into since.
_FILES = """
    SELECT file.* FROM trackers_archivefile file
    WHERE state = 'written' AND EXISTS (
        SELECT FROM trackers_erasedtweet erased
        WHERE erased.at > file.at AND erased.at < %(until)s AND file.ids @> erased.tweet_id)
    ORDER BY month, path
"""
# Of a later one the transaction may not have ended yet.
_ENDED_AFTER = timedelta(minutes=10)


def count_archived(ids: Sequence[int]) -> int:
    """How many of these the archive may have: their ids are between those of a file."""
    return _summed(_COUNT_ARCHIVED, ids)


def note_erased(ids: Sequence[int]) -> int:
    """Have what the archive has of these tweets erased, and read no more from now on; return how
    many that are, without those of which it is known. Tracked ones are untracked instead."""
    return _summed(_NOTE, ids)


def _summed(query: str, ids: Sequence[int]) -> int:
    total = 0
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        with cursor() as db:
            params = {"ids": array(ids[start : start + _IDS_PER_STATEMENT])}
            [(count,)] = db.execute(query, params).fetchall()
        total += count
    return total


def erase(store: Store, *, now: datetime, deadline: Deadline) -> int | None:
    """Make files anew without the tweets that were removed, until time is up; return how many
    files that were. None: some are left, or another process writes. `now` is the database's."""
    until, looked, files = now - _ENDED_AFTER, 0, 0
    waiting = ErasedTweet.objects.filter(at__lt=until)
    if not waiting.exists():
        return 0
    with writing_to(store) as lease:
        if lease is None:
            return None
        remove_unfinished(store)
        erased = sorted(waiting.values_list("tweet_id", flat=True))
        left = list(ArchiveFile.objects.raw(_FILES, {"until": until}))
        for file in left:
            if looked and deadline.is_over:
                break
            looked += 1
            if _has_some(store, file, erased):
                _make_anew(store, lease, file, erased, until)
                files += 1
            else:
                _note_without(lease, file, until)
        write_due_manifests(store, lease.installation)
        # Files that were replaced have the samples still.
        remove_unfinished(store)
        if looked < len(left):
            return None
        for start in range(0, len(erased), TWEETS_PER_RECEIPT):
            noted = ErasedTweet.objects.filter(
                tweet_id__among=set(erased[start : start + TWEETS_PER_RECEIPT])
            )
            write_receipt(store, dict(noted.values_list("tweet_id", "at")))
            noted.delete()
    return files


def _has_some(store: Store, file: ArchiveFile, erased: Sequence[int]) -> bool:
    """Whether it has any of these ids, which are in order. Hardly any file has, though its ids
    begin before them and end after them."""
    import pyarrow
    from pyarrow import compute, parquet

    groups = [
        number
        for number, (first, last) in enumerate(zip(file.first_ids, file.last_ids, strict=True))
        if bisect_left(erased, first) < bisect_right(erased, last)
    ]
    ids = pyarrow.array(erased, pyarrow.int64())
    with store.open(file.path) as source, parquet.ParquetFile(source) as opened:
        for number in groups:
            group = opened.read_row_group(number, columns=["id"])
            if compute.any(compute.is_in(group.column("id"), ids)).as_py():
                return True
    return False


def _note_without(lease: Lease, file: ArchiveFile, until: datetime) -> None:
    """It has nothing of what was erased until then."""
    with transaction.atomic():
        lease.renew()
        ArchiveFile.objects.filter(pk=file.pk).update(at=until)


def _make_anew(
    store: Store, lease: Lease, file: ArchiveFile, erased: list[int], until: datetime
) -> None:
    new = begin_file(lease, file.month)
    contents = _write_without(store, lease, file, new, erased)
    if contents.samples:
        proof = read_back(store, new.path, new.month)
        if proof.contents != contents:
            raise ArchiveError(f"{new.path} in {store} does not read as it was written.")
    with transaction.atomic():
        lease.renew()
        if contents.samples:
            register(new, proof, at=until)
        ArchiveFile.objects.filter(pk=file.pk).update(state=ArchiveFile.State.REPLACED, at=Now())
        ArchiveMonth.objects.filter(month=file.month).update(manifest_is_due=True)


def _write_without(
    store: Store, lease: Lease, old: ArchiveFile, new: ArchiveFile, erased: list[int]
) -> Contents:
    import pyarrow
    from pyarrow import compute, parquet

    contents, ids = Contents(old.month), pyarrow.array(erased, pyarrow.int64())
    with (
        store.open(old.path) as source,
        parquet.ParquetFile(source) as opened,
        store.writing(new.path) as out,
        parquet.ParquetWriter(out, schema(), **writing_options()) as writer,
    ):
        for number in range(opened.num_row_groups):
            group: pyarrow.Table = opened.read_row_group(number).cast(schema())
            left = group.filter(compute.invert(compute.is_in(group.column("id"), ids)))
            if len(left):
                writer.write_table(left, row_group_size=len(left))
                contents.add(left)
            lease.renew()
    return contents
