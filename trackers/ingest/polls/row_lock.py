"""The row of a source, which a poll's step writes only while the claim is its own.

Locks, in this order: the poll's bucket and its job, the source's, authors, and tweets by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction

from trackers.ingest.sources.models import Source
from trackers.jobs import queue
from trackers.jobs.queue import Batch
from tweetwatch.database import cursor

# The fence: a claim that ran out, or that a person ended, is no longer ours.
_HOLD = """
    WITH held AS MATERIALIZED (
        SELECT stamp FROM {bucket} WHERE lease = %(lease)s AND %(key)s = ANY(keys) FOR UPDATE
    )
    SELECT FROM {job} WHERE key = %(key)s AND stamp = ANY(ARRAY(SELECT stamp FROM held)) FOR UPDATE
"""
# What a step writes. The other fields are a person's.
_WRITTEN = [
    "account_id", "username", "was_account_id", "was_of",
    "latest_id", "asked_at_ms", "passed_id", "begun_id", "first_read_at", "sweep", "filling",
    "version", "poll_at", "left_out", "polled_at", "overlapped_at", "deep_overlapped_at", "resting",
    "skew", "yielded", "again", "leaked", "hidden_reason", "problem", "failures",
]  # fmt: skip


@contextmanager
def held(batch: Batch, source: Source) -> Iterator[Source | None]:
    """The source's row, locked in a transaction, if it has not changed since it was read.

    None when the claim is lost, or it was paused, changed or removed: nothing may be written.
    """
    with transaction.atomic():
        params = {"key": source.pk, "lease": batch.lease}
        with cursor() as db:
            is_ours = db.execute(queue.on(batch.queue, _HOLD), params).fetchone() is not None
        # NO KEY: a row that names the source, as a gap does, needs a KEY SHARE lock on it.
        rows = Source.objects.active().select_for_update(no_key=True)
        yield rows.filter(pk=source.pk, version=source.version).first() if is_ours else None


def save_held(source: Source) -> None:
    """Write the row that is held, and continue with it."""
    source.version += 1
    source.save(update_fields=_WRITTEN)


def end_claim(batch: Batch, source: Source, delay: timedelta | None) -> None:
    """Write the row that is held, and end the claim: due after `delay`; None: never."""
    save_held(source)
    queue.finish(batch, {} if delay is None else {source.pk: max(delay, timedelta(0))})
