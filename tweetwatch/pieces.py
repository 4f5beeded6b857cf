"""Long work in short transactions: until it is done or its time is up, by one process at a time.

However it ends, what was committed stays, and the next run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from tweetwatch.database import cursor

# A lock of the transaction, not of the session: PgBouncer may run each in another session.
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%(work)s, 0))"
_SHARE_LOCK = "SELECT pg_advisory_xact_lock_shared(hashtextextended(%(work)s, 0))"
_WAIT_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(work)s, 0))"


@dataclass(frozen=True, slots=True)
class Deadline:
    """When to stop, by time.monotonic()."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    @property
    def left(self) -> float:
        """Seconds; below 0 once it is over."""
        return self.at - time.monotonic()

    def halfway(self) -> Deadline:
        """The deadline of half of the time that is left."""
        return Deadline.after(self.left / 2)


def periodic_task_deadline() -> Deadline:
    """Half of a task's time; the other half is for the longest single piece of it."""
    return Deadline.after(settings.TASK_TIMEOUT / 2)


@dataclass(frozen=True, slots=True)
class PieceWork:
    rows: int = 0  # processed
    left: int = 0  # if time was up first
    is_elsewhere: bool = False  # another process is doing it, and goes on

    @property
    def is_done(self) -> bool:
        return not (self.left or self.is_elsewhere)


def in_pieces(
    work: str,
    piece: Callable[[], int | None],
    *,
    left: Callable[[], int],
    deadline: Deadline,
) -> PieceWork:
    """Call `piece`, each time in a transaction of its own, until it returns None: nothing is left.

    At least one piece, so that each run gets further; none while another process is in a piece of
    the work of that name. `left` counts, when time is up, what the next run has to do.
    """
    rows = 0
    while True:
        with transaction.atomic():
            if not take_work_lock(work):
                return PieceWork(rows, is_elsewhere=True)
            done = piece()
        if done is None:
            return PieceWork(rows)
        rows += done
        if deadline.is_over:
            return PieceWork(rows, left=left())


def delete_in_pieces(
    work: str, delete: str, *, left: str, params: Mapping[str, object], deadline: Deadline
) -> PieceWork:
    """Run a DELETE of a limited number of rows, each time in a transaction of its own, until it
    finds none. `left`: a SELECT that counts, when time is up, what the next run has to do."""

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(delete, params).rowcount or None

    return in_pieces(work, piece, left=lambda: select_count(left, params), deadline=deadline)


def take_work_lock(work: str) -> bool:
    """Take the lock on the work for this transaction; False if another process has it."""
    with cursor() as db:
        row = db.execute(_TRY_LOCK, {"work": f"tweetwatch: {work}"}).fetchone()
    return bool(row and row[0])


def wait_for_work(work: str) -> None:
    """Keep other processes from the work of that name until this transaction ends; a piece of it
    that is under way is waited for."""
    with cursor() as db:
        db.execute(_WAIT_LOCK, {"work": f"tweetwatch: {work}"})


def share_work(work: str) -> None:
    """Do the work of that name beside others that share it; whoever waits for it waits until all
    of their transactions have ended, and keeps others from beginning."""
    with cursor() as db:
        db.execute(_SHARE_LOCK, {"work": f"tweetwatch: {work}"})


def select_count(statement: str, params: Mapping[str, object]) -> int:
    """The single number that a statement returns."""
    with cursor() as db:
        row = db.execute(statement, params).fetchone()
    return int(row[0]) if row else 0
