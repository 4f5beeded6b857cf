"""Old months leave the database for the archive, a part at a time.

the next rows of a month, in pieces of ids ─> a file ─> read back: the same? ─> in one transaction
the file counts, and the rows go ─> the month's manifest

No transaction is open while a file is written or read. Until the last step the rows are here and
the file does not count; a process that dies leaves a file that the next one removes. If a row has
changed meanwhile, the whole file is given up: so nothing is in two files, and nothing in none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from django.db import transaction

from trackers.tweets.archive import rows
from trackers.tweets.archive.companions import (
    missing_facts,
    write_companions,
)
from trackers.tweets.archive.erase import keep_from_untracking, note_untracked
from trackers.tweets.archive.files import (
    begin_file,
    proven,
    register,
    remove_unfinished,
    writing_parquet,
)
from trackers.tweets.archive.lease import ArchiveError, Lease, writing_to
from trackers.tweets.archive.manifests import write_due_manifests
from trackers.tweets.archive.merge import merge_small_files
from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.archive.proof import Contents
from trackers.tweets.archive.store import Store, lacking_packages
from trackers.tweets.models import PackedSamples
from trackers.tweets.pack import PACKING_SAMPLES
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline, wait_for_work
from tweetwatch.statements import statement

# A tweet's samples of a month are read with their whole row group: of 250,000 in 22 ms, of these
# in four, for half a percent more bytes. A file is written and read back within a task.
SAMPLES_PER_GROUP = 40_000
GROUPS_PER_FILE = 100
# Deleted in one transaction, and their lengths are in memory until then.
_TWEETS_PER_FILE = 200_000
_DELETE_WRITTEN = statement(__file__, "delete_written")


@dataclass(slots=True)
class Archived:
    samples: int = 0
    files: int = 0
    is_elsewhere: bool = False  # another process writes
    is_done: bool = False  # nothing of those months is left


def archive_months(
    store: Store,
    *,
    before: date,
    deadline: Deadline,
    progress: Callable[[int], None] = lambda samples: None,
) -> Archived:
    """Move what is packed of the months before this one, oldest first, until time is up; one file
    at least. ArchiveError or OSError: as far as it came, all is well."""
    if lacking := lacking_packages(store):
        raise ArchiveError(lacking)
    worked = Archived()
    with writing_to(store) as lease:
        if lease is None:
            return Archived(is_elsewhere=True)
        remove_unfinished(store)
        write_due_manifests(store, lease.installation)
        while (month := _oldest_month()) and month < before:
            _archive_month(store, lease, month, worked, deadline, progress)
            write_due_manifests(store, lease.installation)
            if deadline.is_over:
                return worked
        merge_small_files(store, lease, deadline)
        write_due_manifests(store, lease.installation)
        # Those that were merged.
        remove_unfinished(store)
        worked.is_done = True
    return worked


def _oldest_month() -> date | None:
    return PackedSamples.objects.order_by("month").values_list("month", flat=True).first()


def _archive_month(
    store: Store,
    lease: Lease,
    month: date,
    worked: Archived,
    deadline: Deadline,
    progress: Callable[[int], None],
) -> None:
    """Facts and checkpoints, while it is known which tweets have samples; then these, from where
    its newest file ended, and once more from the beginning: what came late."""
    if not write_companions(store, lease, month, deadline):
        return
    newest = ArchiveFile.objects.filter(month=month).exclude(ids=None).order_by("-path").first()
    for after in (newest.last_ids[-1] if newest else -1, -1):
        place: int | None = after
        while place is not None:
            part = _write_part(store, lease, month, place, deadline, progress)
            if part is None:
                break
            worked.samples += part.samples
            worked.files += 1
            place = part.last_ids[-1]
            if deadline.is_over:
                return


def _write_part(
    store: Store,
    lease: Lease,
    month: date,
    after: int,
    deadline: Deadline,
    progress: Callable[[int], None],
) -> Contents | None:
    """One file of what follows after this id; None: nothing does."""
    parts = rows.ranges(
        month, after=after, most_tweets=_TWEETS_PER_FILE, samples_each=SAMPLES_PER_GROUP
    )[:GROUPS_PER_FILE]
    if not parts:
        return None
    file = begin_file(lease, month)
    contents = Contents(month)
    with writing_parquet(store, file, contents) as add:
        for part in parts:
            add(table := rows.read_range(month, part))
            progress(len(table))
            lease.renew()
            if deadline.is_over:
                break
    proof = proven(store, file, contents)
    facts = missing_facts(store, lease, contents)
    with transaction.atomic():
        lease.renew()
        if facts:
            keep_from_untracking()
        # Beside it, rows would be appended to arrays that this transaction has locked.
        wait_for_work(PACKING_SAMPLES)
        if delete_written(contents) != len(contents.lengths):
            raise ArchiveError(
                "Samples of these tweets were added or deleted meanwhile, so this file does not "
                "count: they are archived the next time."
            )
        register(file, proof)
        for facts_file, facts_proof in facts:
            register(facts_file, facts_proof)
            note_untracked(facts_proof.contents)
    return contents


def delete_written(contents: Contents) -> int:
    """Delete the rows that still have what was written; return how many tweets that were."""
    params = {
        "month": contents.month,
        "ids": array(contents.lengths),
        "lengths": array(contents.lengths.values()),
    }
    with cursor() as db:
        return db.execute(_DELETE_WRITTEN, params).rowcount
