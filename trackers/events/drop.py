"""What waits is dropped, and its events counted: for one subscriber, or the oldest of all.

The oldest go when too much waits, measured in live bytes, since a table does not shrink when its
rows are deleted. Between two marks: it begins above the upper and ends below the lower, so that the
next event does not start it again. What is on its way cannot be dropped: if that alone is too much,
people are alerted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from trackers.events.models import EventBatch, Subscriber
from trackers.outbox.findings import Observation
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, in_pieces
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# Shares of the limit: above the first it begins, below the second it ends.
_UPPER, _LOWER = 0.95, 0.9
_BATCHES_PER_PIECE = 500

# An event is stored once, however many subscribers it waits for; the size of a batch is what its
# subscriber would be sent. One row per subscriber, however much waits.
_USED = "SELECT coalesce(sum(waiting_bytes), 0) FROM trackers_subscriberstate"

_DROP = statement(__file__, "drop")
_DROP_WAITING = statement(__file__, "drop_waiting")


@dataclass(slots=True)
class Dropped:
    events: int = 0
    bytes: int = 0


def drop_oldest(*, most_bytes: int, deadline: Deadline) -> Dropped:
    """Drop the oldest batches if all together exceed `most_bytes`; return what was dropped."""
    dropped = Dropped()
    if used_bytes() <= most_bytes * _UPPER:
        return dropped

    def piece() -> int | None:
        # Deliveries free bytes meanwhile, and what they free need not be dropped.
        excess = used_bytes() - int(most_bytes * _LOWER)
        if excess <= 0:
            return None
        some = drop_some(excess)
        dropped.events += some.events
        dropped.bytes += some.bytes
        return some.events or None

    # What is left is dropped the next minute.
    in_pieces("dropping events", piece, left=lambda: 0, deadline=deadline)
    if dropped.events:
        logger.warning("dropped %d events: more than BUS_STORAGE_MOST waited", dropped.events)
    return dropped


def drop_some(excess: int) -> Dropped:
    """Drop the oldest batches until `excess` bytes are gone, but only some hundred at a time."""
    with cursor() as db:
        row = db.execute(_DROP, {"most": _BATCHES_PER_PIECE, "excess": excess}).fetchone()
    assert row is not None
    return Dropped(int(row[0]), int(row[1]))


def used_bytes() -> int:
    with cursor() as db:
        row = db.execute(_USED).fetchone()
    return int(row[0]) if row else 0


def storage_findings(*, most_bytes: int) -> Iterator[Observation]:
    """More waits than may, although the oldest is dropped every minute."""
    used = used_bytes()
    yield Observation(
        "storage",
        "subscribers",
        f"{used:,} bytes wait for subscribers, more than BUS_STORAGE_MOST ({most_bytes:,}), and "
        "too little of it can be dropped: what is on its way never is."
        if used > most_bytes
        else "",
        "No more waits for subscribers than BUS_STORAGE_MOST.",
        "/subscribers/",
    )


def drop_waiting(subscriber: Subscriber) -> int:
    """Drop what waits for it; return how many events."""
    with cursor() as db:
        row = db.execute(_DROP_WAITING, {"subscriber": subscriber.pk}).fetchone()
    return int(row[0]) if row else 0


def delete_removed() -> int:
    """Delete removed subscribers that have no more batches on their way; return how many.

    A batch that was on its way at the removal, and failed since, is dropped like the others.
    """
    for subscriber in Subscriber.objects.exclude(removed_at=None):
        drop_waiting(subscriber)
    gone = Subscriber.objects.exclude(removed_at=None).exclude(
        Exists(EventBatch.objects.filter(subscriber=OuterRef("pk")))
    )
    return gone.delete()[1].get("trackers.Subscriber", 0)
