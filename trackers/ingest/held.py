"""A source as one step of its poll writes it: only while the poll is its own.

Locks, in this order: the row of the poll's job, the source's, authors, and tweets by their ids.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from django.db import InterfaceError, InternalError, OperationalError, connection, transaction

from trackers.ingest.models import Source
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from tweetwatch.database import cursor

T = TypeVar("T")

# The fence: a claim that ran out, or that a person ended, is no longer ours.
HOLD = "SELECT FROM {job} WHERE key = %(key)s AND lease = %(lease)s FOR UPDATE"
# What a step writes. The rest is a person's.
WRITTEN = [
    "account_id", "username", "latest_id", "asked_at_ms", "passed_id", "begun_id", "sweep",
    "filling", "version", "poll_at", "left_out", "polled_at", "overlapped_at",
    "deep_overlapped_at", "resting", "skew", "yielded", "again", "leaked", "hidden_because",
    "problem", "failures",
]  # fmt: skip


@contextmanager
def held(batch: Batch, source: Source) -> Iterator[Source | None]:
    """The source's row, locked in a transaction, if nothing has changed it since it was read.

    None when the claim is lost, or it was paused, changed or removed: nothing may be written.
    """
    with transaction.atomic():
        given = {"key": source.pk, "lease": batch.lease}
        with cursor() as db:
            is_ours = db.execute(queue.on(batch.namespace, HOLD), given).fetchone() is not None
        # NO KEY: a row that names the source, as a gap does, needs a KEY SHARE lock on it.
        rows = Source.objects.active().select_for_update(no_key=True)
        yield rows.filter(pk=source.pk, version=source.version).first() if is_ours else None


def write(source: Source) -> None:
    """Write the row that is held, and go on with it."""
    source.version += 1
    source.save(update_fields=WRITTEN)


def leave(batch: Batch, source: Source, delay: timedelta | None) -> None:
    """Write the row that is held, and end the claim: due after `delay`; None: not any more."""
    write(source)
    queue.finish(batch, {} if delay is None else {source.pk: max(delay, timedelta(0))})


def in_spite_of_the_database(batch: Batch, act: Callable[[], T]) -> T:
    """Do it again when the database went away, chose us in a deadlock or is read-only for a while,
    for as long as the lease lasts: X was paid for the page.

    What was committed before its connection broke is not repeated: the lease is off the row then.
    """
    assert batch.claimed_at is not None
    begun, lease = time.monotonic(), batch.expires_at - batch.claimed_at
    while True:
        try:
            return act()
        except (OperationalError, InterfaceError, InternalError):
            if connection.in_atomic_block or time.monotonic() - begun > lease.total_seconds() / 2:
                raise
            connection.close()
            time.sleep(0.2)
