"""When too much waits, the oldest batches are dropped, and their events counted as dropped.

Measured in live bytes, since a table does not shrink when its rows are deleted. Between two marks:
it begins above the upper and ends below the lower, so that the next event does not start it again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, in_pieces
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

# Shares of the limit: above the first it begins, below the second it ends.
_UPPER, _LOWER = 0.9, 0.8
_BATCHES_PER_PIECE = 500

# An event is stored once, however many subscribers it waits for; the size of a batch is what its
# subscriber would be sent. One row per subscriber, however much waits.
_USED = "SELECT coalesce(sum(waiting_bytes), 0) FROM trackers_subscriberstate"

_DROP = statement(__file__, "drop")


@dataclass(slots=True)
class Tally:
    events: int = 0
    bytes: int = 0


def drop_oldest(*, most_bytes: int, deadline: Deadline) -> Tally:
    """Drop the oldest batches if all together exceed `most_bytes`; return what was dropped."""
    used, dropped = used_bytes(), Tally()
    if used <= most_bytes * _UPPER:
        return dropped

    def piece() -> int | None:
        if used - dropped.bytes <= most_bytes * _LOWER:
            return None
        some = drop_some()
        dropped.events += some.events
        dropped.bytes += some.bytes
        return some.events or None

    # What is left is dropped the next minute.
    in_pieces("dropping events", piece, left=lambda: 0, deadline=deadline)
    if dropped.events:
        logger.warning("dropped %d events: more than BUS_STORAGE_MOST waited", dropped.events)
    return dropped


def drop_some() -> Tally:
    with cursor() as db:
        row = db.execute(_DROP, {"most": _BATCHES_PER_PIECE}).fetchone()
    assert row is not None
    return Tally(int(row[0]), int(row[1]))


def used_bytes() -> int:
    with cursor() as db:
        row = db.execute(_USED).fetchone()
    return int(row[0]) if row else 0
