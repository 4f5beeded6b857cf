"""Sends what waits for channels: a loop of the process `deliver`, beside the deliveries of events.

claim, load ─ the database's thread ─> a task for each channel: Sender.call ─> settle
A channel has one request on its way at a time, so its pace is kept by any number of processes.
Nothing waits for a service within a transaction.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from trackers.channels.by_apprise.calls import AppriseCalls
from trackers.channels.claim import Claimed, claim_channels, settle, unreadable
from trackers.channels.shapes import SHAPES
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.post import DeliveryProgress, Sender
from trackers.events.delivery.threads import DatabaseThread
from tweetwatch.database import LOST, why_lost

logger = logging.getLogger(__name__)

_SLOTS = 50
_LOOK_EVERY, _DATABASE_AWAY_SECONDS = 1.0, 5.0
# Seconds in which the last outcomes may be settled when the process is asked to end.
_LAST_WORDS = 5.0


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    egress: Egress
    public_url: str
    connect: timedelta
    total: timedelta
    lease: timedelta  # after this, what a dead process was sending is sent again


class ChannelLoop:
    def __init__(self, settings: ChannelSettings) -> None:
        self.settings = settings
        self._stopping = asyncio.Event()
        self._database = DatabaseThread("channels")
        self._apprise = AppriseCalls(
            settings.egress,
            connect=settings.connect,
            total=settings.total,
            wait=(settings.lease - settings.total) / 2,
        )
        self._going: dict[asyncio.Task[None], DeliveryProgress] = {}

    def stop(self) -> None:
        """Claim no more, and end once what is on its way has ended."""
        self._stopping.set()

    async def run(self) -> None:
        settings = self.settings
        async with Sender(settings.egress, settings.connect, settings.total) as sender:
            while not self._stopping.is_set():
                rest = await self._turn_or_wait(sender)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), rest)
            await self._end()
        await self._database.end()

    async def _turn_or_wait(self, sender: Sender) -> float:
        """Begin what is due; return how many seconds to rest. No error ends the process."""
        try:
            free = _SLOTS - len(self._going)
            claim = partial(
                claim_channels, free, self.settings.lease, public_url=self.settings.public_url
            )
            for claimed in await self._database.ask(claim) if free > 0 else ():
                self._begin(sender, claimed)
            return _LOOK_EVERY
        except LOST as error:
            logger.warning(
                "nothing goes to channels, because the database failed: %s", why_lost(error)
            )
        except Exception:
            logger.exception("a look at the channels failed")
        await self._database.disconnect()
        return _DATABASE_AWAY_SECONDS

    def _begin(self, sender: Sender, claimed: Claimed) -> None:
        progress = DeliveryProgress()
        task = asyncio.create_task(self._send(sender, claimed, progress))
        self._going[task] = progress
        task.add_done_callback(self._going.pop)

    async def _send(self, sender: Sender, claimed: Claimed, progress: DeliveryProgress) -> None:
        if claimed.call is None:
            reading = unreadable()
        else:
            shape = SHAPES[claimed.kind]
            call = self._apprise.call if shape.extra else sender.call
            reading = shape.read(await call(claimed.call, progress), claimed.parts)
        if reading.why:
            logger.warning("nothing was sent to the channel %s: %s", claimed.name, reading.why)
        try:
            await self._database.ask(partial(settle, claimed, reading))
        except LOST as error:
            # It is sent again, when its next time has come.
            logger.warning("not settled, because the database failed: %s", why_lost(error))
            await self._database.disconnect()
        except Exception:
            logger.exception("a message to a channel could not be settled")

    async def _end(self) -> None:
        """Wait for what a service may have received; the rest is sent by another process."""
        for task, progress in self._going.items():
            if not progress.connected:
                task.cancel()
        until = time.monotonic() + self.settings.total.total_seconds() + _LAST_WORDS
        while self._going and time.monotonic() < until:
            await asyncio.wait([*self._going], timeout=_LOOK_EVERY)
