"""What people remove: reads leave it out at once, and the files that have it are made anew.

untracked ─> erased, in the same transaction ─> every hour: each file that has some of them, without
them ─> none has any: a receipt, and they are no longer noted
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
from django.db import transaction
from django.db.models.functions import Now

from trackers.tweets.archive.layout import schema, writing_options
from trackers.tweets.archive.lease import ArchiveError, Lease, writing_to
from trackers.tweets.archive.manifests import write_due_manifests
from trackers.tweets.archive.models import ArchiveFile, ArchiveMonth, ErasedTweet
from trackers.tweets.archive.proof import Contents, read_back
from trackers.tweets.archive.store import Store
from trackers.tweets.archive.write import begin_file, register, remove_unfinished
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
# Of the files that may have some of them, those not made anew since.
_FILES = """
    SELECT file.* FROM trackers_archivefile file
    WHERE state = 'written' AND EXISTS (
        SELECT FROM trackers_erasedtweet erased
        WHERE erased.at > file.at AND erased.at < %(until)s AND file.ids @> erased.tweet_id)
    ORDER BY month, path
"""
# Of a later one the transaction may not have ended yet.
_ENDED_AFTER = timedelta(minutes=10)


def erase(store: Store, *, now: datetime, deadline: Deadline) -> int | None:
    """Make files anew without the tweets that were removed, until time is up; return how many
    files that were. None: some are left, or another process writes. `now` is the database's."""
    until, files = now - _ENDED_AFTER, 0
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
            if files and deadline.is_over:
                break
            _make_anew(store, lease, file, erased, until)
            files += 1
        write_due_manifests(store, lease.installation)
        # Files that were replaced have the samples still.
        remove_unfinished(store)
        if files < len(left):
            return None
        _write_receipt(store, erased)
        ErasedTweet.objects.filter(tweet_id__in=erased).delete()
    return files


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


def _write_receipt(store: Store, erased: list[int]) -> None:
    """How many were erased and when; not which: a digest shows that some ids were those."""
    now = datetime.now(UTC)
    digest = hashlib.sha256("\n".join(map(str, erased)).encode()).hexdigest()
    with store.writing(f"receipts/{now:%Y%m%dT%H%M%S%fZ}.json") as file:
        file.write(orjson.dumps({"erased_at": now, "tweets": len(erased), "sha256": digest}))
