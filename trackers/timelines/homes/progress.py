"""How far a home is built, and what is not delivered to it yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from trackers.timelines.homes import moment
from trackers.timelines.homes.nearby import FOLLOWED
from tweetwatch.database import compact_sql

# `due`: whether the strategy has to be notified of this read (`Built.touch`).
STATE = """
    SELECT floor, built_at, false AS due FROM trackers_builthome
    WHERE follower_id = %(follower)s AND strategy = %(strategy)s AND shape = %(shape)s
      AND built_at IS NOT NULL
"""
# Followed origins with undelivered arrivals, or whose deliveries do not reach this follower.
_UNDELIVERED = """
    SELECT f.origin_id
    FROM trackers_follow f
    CROSS JOIN LATERAL (SELECT clock FROM trackers_origin WHERE id = f.origin_id LIMIT 1) o
    LEFT JOIN LATERAL (
        SELECT number, reach FROM trackers_deliverymark
        WHERE origin_id = f.origin_id LIMIT 1) m ON true
    WHERE f.follower_id = %(follower)s
      AND (o.clock > coalesce(m.number, 0) OR f.follower_id > m.reach)
"""


# A snapshot, and the state as seen in it: one row, even if nothing is built. Undelivered origins
# do not matter to a read below the floor.
_SELECT_PROGRESS = f"""
    SELECT pg_current_snapshot()::text, ({FOLLOWED}), state.floor, state.built_at, state.due,
           CASE WHEN %(anchor)s::bigint >= state.floor THEN ARRAY({_UNDELIVERED}) END
    FROM (SELECT) once LEFT JOIN ({{state}}) state ON true
"""


@cache
def select_progress(state: str) -> str:
    return compact_sql(_SELECT_PROGRESS.format(state=state))


@dataclass(frozen=True, slots=True)
class BuildState:
    """The state of a home that is built; it differs once the home was trimmed or rebuilt."""

    floor: int
    built_at: datetime


@dataclass(frozen=True, slots=True)
class HomeProgress:
    state: BuildState | None  # None: nothing that can be read is built
    # Followed origins to read from their sources, unless the anchor is below the floor.
    undelivered: Sequence[int]
    clock: str  # of this moment
    followed: int  # how many origins, for `candidates`
    is_due: bool  # notify the strategy of this read


def parse_progress(
    number: Sequence[moment.DatabaseRow], rows: Sequence[moment.DatabaseRow]
) -> HomeProgress:
    """Parse the rows of NUMBER and of STANDS, which must be read after it."""
    [(_, followed, floor, built_at, due, undelivered)] = rows
    clock, state = moment.text_of(number, rows), build_state(floor, built_at)
    return HomeProgress(state, undelivered or (), clock, followed, is_due=bool(due))


def build_state(floor: int | None, built_at: datetime | None) -> BuildState | None:
    return None if floor is None or built_at is None else BuildState(floor, built_at)
