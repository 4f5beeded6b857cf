"""The delivery process: one event loop for thousands of sockets, two threads for the database.

poll ─> spread ─> promote    (`spreading`, in a thread of its own)
                     │
                     └─> claim ─> load ─┐  the other thread
                           ^            └─> a task for each batch: POST ─┐  the loop
                           └─ settle <──────── outcomes <───────────┘
No transaction or database connection waits for a subscriber. Any number of these processes can
share the work: claims skip what is locked, and everything is fenced by leases.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import accumulate

from trackers.events.delivery.claim import Claimed, claim_batches, give_back
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.load import Delivery, Loaded, load
from trackers.events.delivery.post import DeliveryProgress, Sender
from trackers.events.delivery.settle import Outcome, recover, settle_deliveries
from trackers.events.delivery.threads import DatabaseThread
from trackers.events.fan_out_loop import (
    BUSY_SECONDS,
    DATABASE_AWAY_SECONDS,
    IDLE_SECONDS,
    FanOutLoop,
)
from tweetwatch.database import LOST, why_lost

logger = logging.getLogger(__name__)

_RECOVER_EVERY = 1.0
_LOG_EVERY = 10.0
# Seconds in which the last results may be settled when the process is asked to end.
_LAST_WORDS = 5.0
# How many batches a claim takes at a time; how many of their events are loaded at a time, since a
# batch may have ten thousand; how many bytes of bodies may be on their way before more are loaded.
_MOST_CLAIMED = 200
MOST_LOADED = 2_000
_MOST_BYTES = 200_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    egress: Egress
    public_url: str
    connect: timedelta
    total: timedelta
    backoff_most: timedelta
    lease: timedelta  # after this, what a dead process had on its way is sent again
    slots: int

    @property
    def begins_within(self) -> float:
        """Seconds after its claim within which a batch must be sent, or not at all.

        The rest of the lease is for the delivery and for settling it.
        """
        return (self.lease - self.total).total_seconds() / 2


@dataclass(slots=True)
class Count:
    """What happened since the last line in the log."""

    delivered: int = 0
    failed: int = 0
    late: int = 0
    lost: int = 0


class Deliverer:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._stopping = asyncio.Event()
        # A delivery ended, or there may be something to claim.
        self._woken = asyncio.Event()
        self._database = DatabaseThread("deliverer")
        self._spreader = FanOutLoop(self._woken.set)
        # Claimed and not loaded yet, with the time of the claim.
        self._claimed: list[tuple[float, Claimed]] = []
        self._going: dict[asyncio.Task[None], DeliveryProgress] = {}
        self._bytes = 0
        self._ended: list[Outcome] = []
        self._unsent: list[Claimed] = []
        self._count = Count()
        self._recovered = self._logged_at = float("-inf")

    def stop(self) -> None:
        """Claim no more, and end once what is on its way has ended."""
        self._stopping.set()
        self._woken.set()

    async def run(self) -> None:
        sender = Sender(self.settings.egress, self.settings.connect, self.settings.total)
        # An error in one ends the other too: the supervisor then restarts the process.
        async with asyncio.TaskGroup() as both, sender:
            both.create_task(self._spreader.run(self._stopping))
            while not self._stopping.is_set():
                began = time.monotonic()
                rest = await self._turn_or_wait(sender)
                await self._rest(began, rest)
            await self._end()
        await self._database.end()

    async def _turn_or_wait(self, sender: Sender) -> float:
        """Do one turn; return how many seconds to rest at most. No error ends the process."""
        try:
            return await self._turn(sender)
        except LOST as error:
            logger.warning("nothing is delivered, because the database failed: %s", why_lost(error))
        except Exception:
            logger.exception("a round of deliveries failed")
        await self._database.disconnect()
        return DATABASE_AWAY_SECONDS

    async def _turn(self, sender: Sender) -> float:
        await self._settle()
        if time.monotonic() - self._recovered > _RECOVER_EVERY:
            self._count.lost += await self._database.ask(recover)
            self._recovered = time.monotonic()
        claimed = await self._claim()
        await self._send(sender)
        self._log_counts()
        if claimed == _MOST_CLAIMED:
            return 0.0
        # Even when idle it looks again: a subscriber's wait may have ended.
        return BUSY_SECONDS if claimed else IDLE_SECONDS

    async def _settle(self) -> None:
        if self._unsent:
            unsent = self._unsent[:]
            await self._database.ask(partial(give_back, unsent))
            del self._unsent[: len(unsent)]
        if not self._ended:
            return
        ended = self._ended[:]
        try:
            kept = await self._database.ask(
                partial(settle_deliveries, ended, most=self.settings.backoff_most)
            )
        except LOST:
            raise
        except Exception:
            # Their leases will run out, and they will be sent again.
            logger.exception("%d deliveries could not be settled", len(ended))
            kept = frozenset()
        del self._ended[: len(ended)]
        delivered = sum(one.delivered for one in ended if one.batch.id in kept)
        self._count.delivered += delivered
        self._count.failed += len(kept) - delivered
        self._count.late += len(ended) - len(kept)

    async def _claim(self) -> int:
        free = self.settings.slots - len(self._going)
        if self._claimed or self._bytes > _MOST_BYTES or free <= 0:
            return 0
        now = time.monotonic()
        claimed = await self._database.ask(
            partial(claim_batches, min(free, _MOST_CLAIMED), self.settings.lease)
        )
        self._claimed += [(now, one) for one in claimed]
        return len(claimed)

    async def _send(self, sender: Sender) -> None:
        while self._claimed and self._bytes <= _MOST_BYTES:
            await self._send_some(sender, self._claimed[: few_of(self._claimed)])

    async def _send_some(self, sender: Sender, some: list[tuple[float, Claimed]]) -> None:
        began = {delivery.id: at for at, delivery in some}
        claimed = [delivery for _, delivery in some]
        try:
            loaded = await self._database.ask(
                partial(load, claimed, public_url=self.settings.public_url)
            )
        except LOST:
            raise
        except Exception:
            # Their leases will run out, and they will be tried again.
            logger.exception("%d batches could not be made ready to be sent", len(claimed))
            loaded = Loaded([], [])
        del self._claimed[: len(some)]
        self._ended += loaded.impossible
        for delivery in loaded.deliveries:
            if time.monotonic() - began[delivery.batch.id] > self.settings.begins_within:
                self._unsent.append(delivery.batch)
            else:
                self._begin(sender, delivery)

    def _begin(self, sender: Sender, delivery: Delivery) -> None:
        progress = DeliveryProgress()
        task = asyncio.create_task(self._deliver(sender, delivery, progress))
        self._going[task] = progress
        self._bytes += len(delivery.body)

        def end(task: asyncio.Task[None]) -> None:
            del self._going[task]
            self._bytes -= len(delivery.body)
            if task.cancelled():
                self._unsent.append(delivery.batch)
            self._woken.set()

        task.add_done_callback(end)

    async def _deliver(self, sender: Sender, one: Delivery, progress: DeliveryProgress) -> None:
        self._ended.append(await sender.deliver(one, progress))

    async def _rest(self, began: float, rest: float) -> None:
        """Wait `rest` seconds or until woken, but at least to the end of the tick; 0: no wait."""
        if rest and not self._stopping.is_set():
            await asyncio.sleep(max(0.0, began + BUSY_SECONDS - time.monotonic()))
        if rest > BUSY_SECONDS:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), rest - BUSY_SECONDS)
        self._woken.clear()

    async def _end(self) -> None:
        """Give back what was not sent, and wait for the rest, within their deadlines."""
        self._unsent += [one for _, one in self._claimed]
        self._claimed.clear()
        for task, progress in self._going.items():
            if not progress.connected:
                task.cancel()
        until = time.monotonic() + self.settings.total.total_seconds() + _LAST_WORDS
        while (self._going or self._ended or self._unsent) and time.monotonic() < until:
            if self._going:
                await asyncio.wait(self._going, timeout=IDLE_SECONDS)
            try:
                await self._settle()
            except LOST as error:
                logger.warning("not settled yet, because the database failed: %s", why_lost(error))
                await self._database.disconnect()
                await asyncio.sleep(DATABASE_AWAY_SECONDS)

    def _log_counts(self) -> None:
        if time.monotonic() - self._logged_at < _LOG_EVERY:
            return
        self._logged_at = time.monotonic()
        count, self._count = self._count, Count()
        if count != Count():
            logger.info(
                "delivered %d batches, %d failed, %d ended too late, %d were lost; %d on their way",
                *(count.delivered, count.failed, count.late, count.lost, len(self._going)),
            )


def few_of(claimed: Sequence[tuple[float, Claimed]]) -> int:
    """How many of the first batches are loaded together: MOST_LOADED events, or one batch."""
    sums = accumulate(len(one.events) for _, one in claimed)
    return max(1, sum(events <= MOST_LOADED for events in sums))
