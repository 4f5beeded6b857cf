"""Compares subscribers' books with their batches, and corrects the books that differ.

Each statement that creates or removes batches updates the counters, so they differ only after
somebody edited the database by hand, or restored a single table.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from tweetwatch.database import Cursor, cursor

logger = logging.getLogger(__name__)

# Adds up all that waits. One snapshot: batches and counters are committed together.
_WALK = """
    SELECT s.id, s.name, st.added - st.delivered - st.dropped, st.waiting_batches, st.waiting_bytes,
           coalesce(q.events, 0), coalesce(q.batches, 0), coalesce(q.bytes, 0)
    FROM trackers_subscriber s
    JOIN trackers_subscriberstate st ON st.subscriber_id = s.id
    LEFT JOIN LATERAL (
        SELECT sum(cardinality(events)) AS events, count(*) AS batches, sum(bytes) AS bytes
        FROM trackers_eventbatch WHERE subscriber_id = s.id AND kind = 'events'
    ) q ON true
    WHERE %(id)s::bigint IS NULL OR s.id = %(id)s
    ORDER BY s.name
"""
# Whatever creates or removes batches of a subscriber locks its state first.
_LOCK = "SELECT FROM trackers_subscriberstate WHERE subscriber_id = %(id)s FOR UPDATE"
# What is missing counts as dropped, and what is too much as added.
_MEND = """
    UPDATE trackers_subscriberstate
    SET dropped = dropped + greatest(0, %(missing)s::bigint),
        added = added + greatest(0, -%(missing)s::bigint),
        waiting_batches = %(batches)s, waiting_bytes = %(bytes)s
    WHERE subscriber_id = %(id)s
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    events: int
    batches: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Audited:
    """What waits for a subscriber according to its books, and according to its batches."""

    id: int
    name: str
    by_books: Waiting
    by_batches: Waiting

    @property
    def is_sound(self) -> bool:
        return self.by_books == self.by_batches


def audit(subscriber: int | None = None) -> list[Audited]:
    """Of all subscribers, by name, or of one. Its time grows with the number of batches."""
    with cursor() as db:
        return list(_walk(db, subscriber))


def mend() -> list[Audited]:
    """Correct the books that differ from the batches; return those, as they were."""
    mended_ones = []
    for suspect in audit():
        if suspect.is_sound:
            continue
        with transaction.atomic(), cursor() as db:
            db.execute(_LOCK, {"id": suspect.id})
            # A statement of its own, whose snapshot is younger than the lock.
            for audited in _walk(db, suspect.id):
                if not audited.is_sound:
                    db.execute(_MEND, _mended(audited))
                    mended_ones.append(audited)
                    _log_mended(audited)
    return mended_ones


def _log_mended(audited: Audited) -> None:
    logger.error(
        "subscriber %s: by its books %d events in %d batches (%d bytes) waited, and there were "
        "%d in %d (%d bytes); the books are set right",
        audited.name,
        *(audited.by_books.events, audited.by_books.batches, audited.by_books.bytes),
        *(audited.by_batches.events, audited.by_batches.batches, audited.by_batches.bytes),
    )


def _mended(audited: Audited) -> dict[str, Any]:
    by_batches = audited.by_batches
    missing = audited.by_books.events - by_batches.events
    return {
        "id": audited.id,
        "missing": missing,
        "batches": by_batches.batches,
        "bytes": by_batches.bytes,
    }


def _walk(db: Cursor, subscriber: int | None) -> Iterator[Audited]:
    for id, name, *counts in db.execute(_WALK, {"id": subscriber}).fetchall():
        numbers = [int(count) for count in counts]
        yield Audited(id, name, Waiting(*numbers[:3]), Waiting(*numbers[3:]))
