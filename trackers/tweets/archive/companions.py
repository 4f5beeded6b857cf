"""What lies beside the samples of a month: facts and checkpoints, copies of what stays here.

They are written before the first samples of the month go, while it is known which tweets have any:
all tweets by id, in pieces; how far that came is noted in the transaction from which on a file
counts. So a tweet is in one file, whoever dies. A tweet that gets its first sample of the month
later comes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain

from django.db import transaction

from trackers.tweets.archive.checkpoints import read_checkpoints
from trackers.tweets.archive.erase import keep_from_untracking, note_untracked
from trackers.tweets.archive.facts import TWEETS_PER_PIECE, facts_of, read_facts
from trackers.tweets.archive.files import (
    begin_file,
    ids_between,
    proven,
    register,
    writing_parquet,
)
from trackers.tweets.archive.layout import FileKind, Piece
from trackers.tweets.archive.lease import Lease
from trackers.tweets.archive.models import ArchiveMonth, CompanionFile, StoredFile
from trackers.tweets.archive.proof import Contents, Proof
from trackers.tweets.archive.store import Store
from trackers.tweets.snowflake import LARGEST_ID
from tweetwatch.pieces import Deadline

# The ids of a file's tweets are in memory until it counts: some 200,000.
_PIECES_PER_FILE = {FileKind.FACTS: 10, FileKind.CHECKPOINTS: 80}
_READ: dict[FileKind, Callable[[date, int], Piece]] = {
    FileKind.FACTS: read_facts,
    FileKind.CHECKPOINTS: read_checkpoints,
}


def write_companions(store: Store, lease: Lease, month: date, deadline: Deadline) -> bool:
    """What is left to write of a month; a file at least. False: time was up first."""
    row, _ = ArchiveMonth.objects.get_or_create(month=month)
    for kind in (FileKind.FACTS, FileKind.CHECKPOINTS):
        reached = getattr(row, _column(kind))
        while reached < LARGEST_ID:
            reached = _write_next(store, lease, month, kind, reached, deadline)
            if deadline.is_over and reached < LARGEST_ID:
                return False
    return True


def _column(kind: FileKind) -> str:
    """Of the month, which says how far they are written."""
    return f"{kind}_up_to"


def _write_next(
    store: Store, lease: Lease, month: date, kind: FileKind, after: int, deadline: Deadline
) -> int:
    """The next file, if there is anything for one; return up to which id all is written."""
    pieces = _pieces(lease, month, kind, after, deadline)
    reached, first = after, None
    for piece in pieces:
        reached = piece.reached
        if len(piece.table):
            first = piece
            break
    if first is None:
        with transaction.atomic():
            lease.renew()
            _note_reached(month, kind, reached)
        return reached
    file = begin_file(lease, month, kind)
    contents = Contents(month, kind)
    with writing_parquet(store, file, contents) as add:
        for piece in chain([first], pieces):
            add(piece.table)
            reached = piece.reached
            if len(contents.first_ids) == _PIECES_PER_FILE[kind]:
                break
    proof = proven(store, file, contents)
    with transaction.atomic():
        lease.renew()
        keep_from_untracking()
        register(file, proof)
        note_untracked(contents)
        _note_reached(month, kind, reached)
    return reached


def _pieces(
    lease: Lease, month: date, kind: FileKind, after: int, deadline: Deadline
) -> Iterator[Piece]:
    """All after this id, until time is up."""
    while after < LARGEST_ID:
        piece = _READ[kind](month, after)
        lease.renew()
        yield piece
        after = piece.reached
        if deadline.is_over:
            return


def _note_reached(month: date, kind: FileKind, reached: int) -> None:
    ArchiveMonth.objects.filter(month=month).update(
        **{_column(kind): reached}, manifest_is_due=True
    )


def missing_facts(store: Store, lease: Lease, contents: Contents) -> list[tuple[StoredFile, Proof]]:
    """A file of facts that is to count with this one of samples, if that has tweets of which there
    are none in the month: those that were measured late."""
    import pyarrow
    from pyarrow import compute

    ids = sorted(contents.lengths)
    missing = pyarrow.array(ids, pyarrow.int64())
    written = CompanionFile.objects.filter(
        month=contents.month, state=StoredFile.State.WRITTEN, path__startswith=f"{FileKind.FACTS}/"
    )
    for other in written:
        for known in ids_between(store, other, ids):
            missing = missing.filter(compute.invert(compute.is_in(missing, known)))
    left = missing.to_pylist()
    tables = (
        facts_of(left[start : start + TWEETS_PER_PIECE])
        for start in range(0, len(left), TWEETS_PER_PIECE)
    )
    first = next((table for table in tables if len(table)), None)
    if first is None:
        return []
    file = begin_file(lease, contents.month, FileKind.FACTS)
    facts = Contents(contents.month, FileKind.FACTS)
    with writing_parquet(store, file, facts) as add:
        for table in chain([first], tables):
            add(table)
            lease.renew()
    return [(file, proven(store, file, facts))]
