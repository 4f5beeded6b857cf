"""How far a home is built, and what is not delivered to it yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from trackers.timelines.feeds import moment
from trackers.timelines.feeds.nearby import FOLLOWED
from tweetwatch.database import plain

# `due`: whether the strategy has to be notified of this read (`Built.touch`).
STATE = """
    SELECT floor, built_at, false AS due FROM trackers_feed
    WHERE watcher_id = %(watcher)s AND strategy = %(strategy)s AND shape = %(shape)s
      AND built_at IS NOT NULL
"""
# Followed origins with undelivered arrivals, or whose deliveries do not reach this watcher.
UNDELIVERED = """
    SELECT f.origin_id
    FROM trackers_follow f
    CROSS JOIN LATERAL (SELECT clock FROM trackers_origin WHERE id = f.origin_id LIMIT 1) o
    LEFT JOIN LATERAL (
        SELECT number, reach FROM trackers_feedmark WHERE origin_id = f.origin_id LIMIT 1) m ON true
    WHERE f.watcher_id = %(watcher)s
      AND (o.clock > coalesce(m.number, 0) OR f.watcher_id > m.reach)
"""


# A snapshot, and the state as seen in it: one row, even if nothing is built. Undelivered origins
# do not matter to a read below the floor.
STANDS = f"""
    SELECT pg_current_snapshot()::text, ({FOLLOWED}), state.floor, state.built_at, state.due,
           CASE WHEN %(anchor)s::bigint >= state.floor THEN ARRAY({UNDELIVERED}) END
    FROM (SELECT) once LEFT JOIN ({{state}}) state ON true
"""


@cache
def standing(state: str) -> str:
    return plain(STANDS.format(state=state))


@dataclass(frozen=True, slots=True)
class State:
    """The state of a home that is built; it differs once the home was trimmed or rebuilt."""

    floor: int
    built_at: datetime


@dataclass(frozen=True, slots=True)
class Stands:
    """`state` None: nothing that can be read is built. `undelivered`: followed origins to read
    from their sources, unless the anchor is below the floor. `clock`: of this moment. `followed`:
    how many origins, for `candidates`. `is_due`: notify the strategy of this read."""

    state: State | None
    undelivered: Sequence[int]
    clock: str
    followed: int
    is_due: bool


def stands_of(number: Sequence[moment.Row], rows: Sequence[moment.Row]) -> Stands:
    """Parse the rows of NUMBER and of STANDS, which must be read after it."""
    [(_, followed, floor, built_at, due, undelivered)] = rows
    clock, state = moment.text_of(number, rows), state_of(floor, built_at)
    return Stands(state, undelivered or (), clock, followed, is_due=bool(due))


def state_of(floor: int | None, built_at: datetime | None) -> State | None:
    return None if floor is None or built_at is None else State(floor, built_at)
