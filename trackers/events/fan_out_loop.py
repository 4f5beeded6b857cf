"""Spreads events to their subscribers, and makes due batches ready, for as long as it runs.

poll ─> spread ─> promote ─> wake up the claims
It has a database thread of its own: spreading to thousands takes a while, and neither claims nor
settlements wait for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from trackers.events.delivery.claim import promote
from trackers.events.delivery.threads import DatabaseThread
from trackers.events.fan_out import fan_out
from tweetwatch.database import LOST, cursor, why_lost

logger = logging.getLogger(__name__)

# Seconds from turn to turn: while there is work, so that what comes meanwhile is spread together;
# when idle; and while the database is away. There is no rest while a backlog waits.
BUSY_SECONDS, IDLE_SECONDS, DATABASE_AWAY_SECONDS = 0.05, 0.25, 0.5

# Each reads one entry of an index.
_LOOK_FOR_WORK = """
    SELECT (SELECT id FROM trackers_staged ORDER BY id DESC LIMIT 1),
           (SELECT extract(epoch FROM deadline - clock_timestamp())::float
            FROM trackers_eventbatch WHERE state = 'early' ORDER BY deadline LIMIT 1)
"""
# Staged before the turn, and more than one spread takes.
_IS_MORE_STAGED = "SELECT EXISTS (SELECT FROM trackers_staged WHERE id <= %(newest)s)"


@dataclass(frozen=True, slots=True)
class Turn:
    moved: bool  # something was spread or became ready
    next_in: float | None  # seconds until a batch is due
    backlog: bool = False  # not everything that was staged before the turn is spread

    @property
    def rest(self) -> float:
        if self.backlog:
            return 0.0
        if self.moved or self.next_in is None:
            return BUSY_SECONDS if self.moved else IDLE_SECONDS
        return min(IDLE_SECONDS, max(BUSY_SECONDS, self.next_in))


class FanOutLoop:
    """`on_move` is called in the loop when there may be something to claim."""

    def __init__(self, on_move: Callable[[], None]) -> None:
        self._on_move = on_move
        self._database = DatabaseThread("spreader")

    async def run(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            began = time.monotonic()
            rest = await self._turn()
            with suppress(TimeoutError):
                left = max(0.0, began + rest - time.monotonic())
                await asyncio.wait_for(stopping.wait(), left)
        await self._database.end()

    async def _turn(self) -> float:
        """Do one turn; return the seconds from its start to the next. No error ends the process."""
        try:
            turn = await self._database.ask(take_turn)
        except LOST as error:
            logger.warning(
                "no events are fanned out, because the database failed: %s", why_lost(error)
            )
        except Exception:
            logger.exception("events could not be fanned out")
        else:
            if turn.moved:
                self._on_move()
            return turn.rest
        await self._database.disconnect()
        return DATABASE_AWAY_SECONDS


def take_turn() -> Turn:
    with cursor() as db:
        [(newest, next_in)] = db.execute(_LOOK_FOR_WORK).fetchall()
    spread_some = bool(newest and fan_out())
    due = next_in is not None and next_in <= 0
    promoted = promote() if due or spread_some else 0
    return Turn(spread_some or promoted > 0, next_in, backlog=spread_some and _is_left(newest))


def _is_left(newest: int) -> bool:
    with cursor() as db:
        row = db.execute(_IS_MORE_STAGED, {"newest": newest}).fetchone()
    return row is not None and bool(row[0])
