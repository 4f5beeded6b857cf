"""How far a home is laid out, and what of it is not delivered yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from trackers.timelines.feeds import moment
from trackers.timelines.feeds.nearby import FOLLOWED
from tweetwatch.database import plain

# `due`: whether it is to be told that somebody reads.
STATE = """
    SELECT floor, built_at, false AS due FROM trackers_feed
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


# A snapshot, and all that is seen in it: one row, also where nothing is laid out. What is not
# delivered does not matter to who reads below the floor.
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
    """Of a home that is laid out; it is another one once anything was taken from below."""

    floor: int
    built_at: datetime


@dataclass(frozen=True, slots=True)
class Stands:
    """`state` None: nothing that can be read is laid out. `undelivered`: followed origins, to be
    read on read, where the anchor is not below the floor. `clock`: of this moment. `followed`: how
    many origins, as `candidates` wants it. `is_due`: it is to be told that somebody reads."""

    state: State | None
    undelivered: Sequence[int]
    clock: str
    followed: int
    is_due: bool


def stands_of(number: Sequence[moment.Row], rows: Sequence[moment.Row]) -> Stands:
    """What the rows of NUMBER say, and those of STANDS, which were asked for after it."""
    [(_, followed, floor, built_at, due, undelivered)] = rows
    clock, state = moment.text_of(number, rows), state_of(floor, built_at)
    return Stands(state, undelivered or (), clock, followed, is_due=bool(due))


def state_of(floor: int | None, built_at: datetime | None) -> State | None:
    return None if floor is None or built_at is None else State(floor, built_at)
