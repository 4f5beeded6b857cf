"""A subscriber's event counts, which must balance: added = delivered + dropped + queued."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tweetwatch.database import cursor

# From counters, and the head of each line: nothing here grows with what waits.
_BOOKS = """
    SELECT s.id, s.name, st.added, st.delivered, st.dropped, st.waiting_batches, head.first_at
    FROM trackers_subscriber s
    JOIN trackers_subscriberstate st ON st.subscriber_id = s.id
    LEFT JOIN LATERAL (
        SELECT first_at FROM trackers_eventbatch
        WHERE subscriber_id = s.id AND place >= 0 AND kind = 'events'
        ORDER BY place, id LIMIT 1
    ) head ON true
    WHERE (s.removed_at IS NULL OR st.waiting_batches > 0)
      AND (%(id)s::bigint IS NULL OR s.id = %(id)s)
    ORDER BY s.name
"""


@dataclass(frozen=True, slots=True)
class Books:
    id: int
    name: str
    added: int
    delivered: int
    dropped: int
    batches: int
    # When the oldest event of the batch at the head of the line was received.
    oldest: datetime | None

    @property
    def queued(self) -> int:
        return self.added - self.delivered - self.dropped


def read_books(subscriber: int | None = None) -> list[Books]:
    """The books of all subscribers, by name, or of one."""
    with cursor() as db:
        return [Books(*row) for row in db.execute(_BOOKS, {"id": subscriber})]
