"""How far a home is laid out, and what of it is not delivered yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

# The last: whether it is to be told that somebody reads.
STATE = """
    SELECT floor, built_at, false FROM trackers_feed
    WHERE watcher_id = %(watcher)s AND strategy = %(strategy)s AND shape = %(shape)s
      AND built_at IS NOT NULL
"""
# Followed, and not all of it delivered; or this watcher is beyond the reach of its deliveries.
UNDELIVERED = """
    SELECT f.origin_id
    FROM trackers_follow f
    CROSS JOIN LATERAL (SELECT clock FROM trackers_origin WHERE id = f.origin_id LIMIT 1) o
    LEFT JOIN LATERAL (
        SELECT number, reach FROM trackers_feedmark WHERE origin_id = f.origin_id LIMIT 1) m ON true
    WHERE f.watcher_id = %(watcher)s
      AND (o.clock > coalesce(m.number, 0) OR f.watcher_id > m.reach)
"""


@dataclass(frozen=True, slots=True)
class State:
    """Of a home that is laid out; it is another one once anything was taken from below."""

    floor: int
    built_at: datetime


@dataclass(frozen=True, slots=True)
class Stands:
    """`state` None: nothing that can be read is laid out. `undelivered`: followed origins, to be
    read on read. `clock`: of this moment."""

    state: State | None
    undelivered: Sequence[int]
    clock: str


def state_of(rows: Sequence[tuple[int, datetime, bool]]) -> State | None:
    return State(*rows[0][:2]) if rows else None
