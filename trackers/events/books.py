"""A subscriber's event counts, which must balance: added = delivered + dropped + queued."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tweetwatch.database import cursor

# Reads the batches by the index on the subscriber's line.
BOOKS = """
    SELECT s.id, s.name, st.added, st.delivered, st.dropped,
           coalesce(q.n, 0), coalesce(q.batches, 0), q.oldest
    FROM trackers_subscriber s
    JOIN trackers_subscriberstate st ON st.subscriber_id = s.id
    LEFT JOIN LATERAL (
        SELECT sum(cardinality(events)) AS n, count(*) AS batches, min(first_at) AS oldest
        FROM trackers_eventbatch WHERE subscriber_id = s.id
    ) q ON true
    WHERE (s.removed_at IS NULL OR q.n > 0) AND (%(id)s::bigint IS NULL OR s.id = %(id)s)
    ORDER BY s.name
"""


@dataclass(frozen=True, slots=True)
class Books:
    """`oldest`: when the oldest waiting event was received."""

    id: int
    name: str
    added: int
    delivered: int
    dropped: int
    queued: int
    batches: int
    oldest: datetime | None

    @property
    def balance(self) -> bool:
        return self.added == self.delivered + self.dropped + self.queued


def read_books(subscriber: int | None = None) -> list[Books]:
    """The books of all subscribers, by name, or of one."""
    with cursor() as db:
        return [Books(*row) for row in db.execute(BOOKS, {"id": subscriber})]
