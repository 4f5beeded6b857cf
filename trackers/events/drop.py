"""When too much waits, the oldest batches are dropped, and their events counted as dropped.

Measured in live bytes, since a table does not shrink when its rows are deleted. Between two marks:
it begins above the upper and ends below the lower, so that the next event does not start it again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from tweetwatch.database import cursor, plain
from tweetwatch.pieces import Deadline, in_pieces

logger = logging.getLogger(__name__)

# Shares of the limit: above the first it begins, below the second it ends.
UPPER, LOWER = 0.9, 0.8
AT_ONCE = 500

# An event is stored once, however many subscribers it waits for; the size of a batch is what its
# subscriber would be sent. One row per subscriber, however much waits.
USED = "SELECT coalesce(sum(waiting_bytes), 0) FROM trackers_subscriberstate"

# The oldest first, along an index; batches on their way stay, and current ones go last.
# Locks: states of subscribers in the order of ids, then batches, as everywhere.
DROP = plain(
    """
    WITH oldest AS MATERIALIZED (
        SELECT id, subscriber_id FROM trackers_eventbatch
        WHERE state <> 'pending'
        ORDER BY is_current, made_at, id LIMIT %(most)s
    ),
    state AS MATERIALIZED (
        SELECT subscriber_id FROM trackers_subscriberstate
        WHERE subscriber_id = ANY(ARRAY(SELECT DISTINCT subscriber_id FROM oldest))
        ORDER BY subscriber_id FOR UPDATE
    ),
    gone AS (
        DELETE FROM trackers_eventbatch
        WHERE ctid = ANY(ARRAY(
            SELECT b.ctid FROM oldest CROSS JOIN LATERAL (
                SELECT ctid FROM trackers_eventbatch
                WHERE id = oldest.id AND state <> 'pending' FOR UPDATE SKIP LOCKED
            ) b
            WHERE oldest.subscriber_id = ANY(ARRAY(SELECT subscriber_id FROM state))))
        RETURNING subscriber_id, cardinality(events) AS n, bytes
    ),
    counted AS (
        UPDATE trackers_subscriberstate st
        SET dropped = st.dropped + of.n, waiting_batches = st.waiting_batches - of.batches,
            waiting_bytes = st.waiting_bytes - of.bytes
        FROM (
            SELECT subscriber_id, sum(n) AS n, count(*) AS batches, sum(bytes) AS bytes
            FROM gone GROUP BY subscriber_id
        ) of
        WHERE st.subscriber_id = of.subscriber_id
    )
    SELECT coalesce(sum(n), 0), coalesce(sum(bytes), 0) FROM gone
    """
)


@dataclass(slots=True)
class Tally:
    events: int = 0
    bytes: int = 0


def drop_oldest(*, most_bytes: int, deadline: Deadline) -> Tally:
    """Drop the oldest batches if all together exceed `most_bytes`; return what was dropped."""
    used, dropped = used_bytes(), Tally()
    if used <= most_bytes * UPPER:
        return dropped

    def piece() -> int | None:
        if used - dropped.bytes <= most_bytes * LOWER:
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
        row = db.execute(DROP, {"most": AT_ONCE}).fetchone()
    assert row is not None
    return Tally(int(row[0]), int(row[1]))


def used_bytes() -> int:
    with cursor() as db:
        row = db.execute(USED).fetchone()
    return int(row[0]) if row else 0
