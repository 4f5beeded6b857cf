"""What people remove: reads leave it out at once, and the files that have it are made anew.

untracked, in the same transaction ─┐
`archive erase` ────────────────────┴─> noted ─> every hour: each file that has some, without them
─> none has any: a receipt, and they are no longer noted
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from trackers.tweets.archive.files import (
    INDEXES,
    begin_file,
    ids_between,
    proven,
    register,
    remove_unfinished,
    writing_parquet,
)
from trackers.tweets.archive.layout import kind_of_file, schema
from trackers.tweets.archive.lease import Lease, writing_to
from trackers.tweets.archive.manifests import write_due_manifests
from trackers.tweets.archive.models import ArchiveMonth, ErasedTweet, StoredFile
from trackers.tweets.archive.proof import Contents
from trackers.tweets.archive.receipts import TWEETS_PER_RECEIPT, write_receipt
from trackers.tweets.archive.store import Store
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline, wait_for_work

# Whoever untracks tweets shares the work of this name.
UNTRACKING = "untracking tweets"
_MAY_HAVE = """
    (EXISTS (SELECT FROM trackers_archivefile WHERE state = 'written' AND ids @> asked.id)
     OR EXISTS (SELECT FROM trackers_companionfile WHERE state = 'written' AND ids @> asked.id))
"""
# Only those that an archived file may have, since hardly any does. By the clock: a file for which
# this statement had to wait is older.
ERASE_ARCHIVED = f"""
    INSERT INTO trackers_erasedtweet (tweet_id, at)
    SELECT asked.id, clock_timestamp() FROM unnest(%(ids)s::bigint[]) AS asked(id)
    WHERE {_MAY_HAVE}
    ORDER BY asked.id
    ON CONFLICT (tweet_id) DO NOTHING
"""
_COUNT_ARCHIVED = f"""
    SELECT count(*) FROM unnest(%(ids)s::bigint[]) AS asked(id) WHERE {_MAY_HAVE}
"""
# Later than the file, whose time is that of its transaction. By the primary key: for a join the
# planner would read all tweets.
_NOTE_UNTRACKED = """
    INSERT INTO trackers_erasedtweet (tweet_id, at)
    SELECT asked.id, clock_timestamp() FROM unnest(%(ids)s::bigint[]) AS asked(id)
    WHERE (SELECT id FROM trackers_tweet WHERE id = asked.id) IS NULL
    ORDER BY asked.id
    ON CONFLICT (tweet_id) DO UPDATE SET at = excluded.at
"""
_NOTE = f"WITH noted AS ({ERASE_ARCHIVED} RETURNING 1) SELECT count(*) FROM noted"
_IDS_PER_STATEMENT = 10_000
# Of the files that may have some of them, those not looked into since.
_FILES = """
    SELECT file.* FROM {index} file
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


def keep_from_untracking() -> None:
    """Until this transaction ends, no tweet is untracked; one that is being untracked is waited
    for. Before anything else that this transaction locks of tweets."""
    wait_for_work(UNTRACKING)


def note_untracked(contents: Contents) -> None:
    """Of a file that counts from now on, and has copies: those that are no longer tracked are to
    leave it. Whoever untracked them did not know of it."""
    with cursor() as db:
        db.execute(_NOTE_UNTRACKED, {"ids": array(sorted(contents.lengths))})


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
        left = _files_to_look_into(until)
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


def _files_to_look_into(until: datetime) -> list[StoredFile]:
    return [
        file
        for index in INDEXES
        for file in index.objects.raw(_FILES.format(index=index._meta.db_table), {"until": until})
    ]


def _has_some(store: Store, file: StoredFile, erased: Sequence[int]) -> bool:
    """Whether it has any of these ids, which are in order. Hardly any file has, though its ids
    begin before them and end after them."""
    import pyarrow
    from pyarrow import compute

    some = pyarrow.array(erased, pyarrow.int64())
    return any(
        compute.any(compute.is_in(ids, some)).as_py() for ids in ids_between(store, file, erased)
    )


def _note_without(lease: Lease, file: StoredFile, until: datetime) -> None:
    """It has nothing of what was erased until then."""
    with transaction.atomic():
        lease.renew()
        file.at = until
        file.save(update_fields=["at"])


def _make_anew(
    store: Store, lease: Lease, file: StoredFile, erased: list[int], until: datetime
) -> None:
    new = begin_file(lease, file.month, kind_of_file(file.path))
    contents = _write_without(store, lease, file, new, erased)
    proof = proven(store, new, contents)
    with transaction.atomic():
        lease.renew()
        if contents.samples:
            register(new, proof, at=until)
        file.state, file.at = StoredFile.State.REPLACED, until
        file.save(update_fields=["state", "at"])
        ArchiveMonth.objects.filter(month=file.month).update(manifest_is_due=True)


def _write_without(
    store: Store, lease: Lease, old: StoredFile, new: StoredFile, erased: list[int]
) -> Contents:
    import pyarrow
    from pyarrow import compute, parquet

    kind = kind_of_file(old.path)
    contents, ids = Contents(old.month, kind), pyarrow.array(erased, pyarrow.int64())
    with (
        store.open(old.path) as source,
        parquet.ParquetFile(source) as opened,
        writing_parquet(store, new, contents) as add,
    ):
        for number in range(opened.num_row_groups):
            group: pyarrow.Table = opened.read_row_group(number).cast(schema(kind))
            add(group.filter(compute.invert(compute.is_in(group.column("id"), ids))))
            lease.renew()
    return contents
