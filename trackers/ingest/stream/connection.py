"""One open stream: the span before it becomes gaps, and its lines are stored, until it ends."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.db import (
    DatabaseError,
    InterfaceError,
    InternalError,
    OperationalError,
    connection,
    transaction,
)

from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.backoff import Backoff, Trouble
from trackers.ingest.stream.clock import DATES_ARE_CUT_TO, StreamClock, clock_of
from trackers.ingest.stream.gaps import open_gaps
from trackers.ingest.stream.lease import Lease
from trackers.ingest.stream.lines import GarbledLog, StreamBatch, sort_out
from trackers.ingest.stream.listeners import Listeners
from trackers.ingest.stream.reader import Reader
from trackers.ingest.stream.requests import Asker, NoTurnError, check_payer
from trackers.ingest.stream.rule_sync import RuleSync
from trackers.ingest.stream.store import store
from trackers.xapi.errors import XError
from trackers.xapi.parse.stream import Farewell
from trackers.xapi.stream import Opened
from tweetwatch.database import cursor, why_lost

logger = logging.getLogger(__name__)

# Deadlocks, broken connections, a read-only server: the same transaction is tried again.
DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)
NO_TIME = timedelta(0)
# When asked to stop, how long the process still tries to store what it has read.
_LAST_WORDS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Not connected, and why."""

    because: str
    wait: timedelta  # for how long
    may_end_early: bool = False  # if a person acts, which our tables show


# `stored_until`: whatever came before is in the gaps that the same transaction opens.
_OPENED = """
    UPDATE trackers_stream
    SET state = 'open', state_since = now(), because = '', connected_at = now(), heard_at = now(),
        opened_at = %(opened_at)s,
        next_try_at = NULL, connects = connects + 1, skew = %(skew)s,
        stored_until = greatest(stored_until, %(x_now)s::timestamptz),
        lease_until = now() + %(lasts)s::interval
    WHERE name = %(name)s AND lease = %(token)s
"""
_HOW_FAR = "SELECT stored_until, clock_timestamp() FROM trackers_stream WHERE name = %(name)s"


@dataclass(slots=True)
class OpenStream:
    """An open stream and what storing it needs."""

    asker: Asker
    stop: threading.Event
    rules: RuleSync  # up to date with X's when it ends
    opened: Opened
    backoff: Backoff
    garbled: GarbledLog
    _reader: Reader = field(init=False)
    _listeners: Listeners = field(init=False)
    _clock: StreamClock = field(init=False)
    _farewell: Farewell | None = None
    _heard: bool = False
    _looked: float = 0.0

    def listen(self) -> Pause:
        """Open gaps for the span, and store until the end; why it ended, and when to reconnect."""
        self._listeners = self.rules.listeners
        self._reader = Reader(self.opened)
        try:
            # Before anything that came after the span is stored.
            self._stubbornly(self._begin)
            self._looked = time.monotonic()
            return self._listen()
        finally:
            self._reader.leave()

    def _begin(self) -> None:
        came_at = self.opened.at
        with transaction.atomic():
            lease, margins = self.asker.lease, self.asker.settings.margins
            stream_lease.fence(lease)
            stored_until, now = _how_far(lease)
            self._clock = clock_of(self.opened.date, came_at, now=now, now_at=time.monotonic())
            at = self._clock.x_at(came_at)
            since = stored_until or at
            span = margins.around(since, max(at + DATES_ARE_CUT_TO, since))
            # A rule that X refused brings nothing, so it misses nothing.
            ruled = [one for id, one in self.rules.wanted.items() if id in self.rules.synced.rules]
            open_gaps(ruled, span, polled_in=margins.polled_in)
            stream_lease.written(
                _OPENED, lease, skew=self._clock.skew, x_now=at, opened_at=self.opened.date
            )

    def _listen(self) -> Pause:
        while True:
            batch = self._take()
            if batch.end is not None:
                return self._broken(batch.end.error)
            if self._farewell:
                self._drain()
                return self._broken(None)
            if self.stop.is_set():
                self._drain()
                return Pause("it was asked to stop", NO_TIME)
            if time.monotonic() - self._looked >= self.rules.looked_at_every.total_seconds():
                if pause := self._look():
                    self._drain()
                    return pause
                self._looked = time.monotonic()

    def _take(self) -> StreamBatch:
        """Store the next lines, and return them."""
        batch = sort_out(self._reader.take(), self._listeners, self._clock)
        self._farewell = self._farewell or batch.farewell
        if batch.alive and not self._heard:
            # X delivers, so the next failure counts as the first.
            self.backoff.reset()
            self._heard = True
        if batch.is_empty:
            return batch
        self._stubbornly(partial(self._store, batch))
        self.garbled.add(batch)
        return batch

    def _drain(self) -> None:
        """Stop reading, and store what was read."""
        self._reader.close()
        while self._take().end is None:
            pass

    def _broken(self, error: XError | None) -> Pause:
        farewell = self._farewell
        if farewell is None:
            because = error.reason if error else "X closed the connection."
            return Pause(because, self.backoff.next("network"))
        # If X says goodbye and sent nothing else, it refused us; the network is fine.
        trouble: Trouble = "network" if self._heard else "http"
        if farewell.is_one_too_many:
            trouble = "limited"
        return Pause(farewell.reason, self.backoff.next(trouble))

    def _store(self, batch: StreamBatch) -> None:
        stored = (batch, self.asker.lease, self._listeners, self.asker.settings.margins)
        project = self.asker.who.project
        x_now = self._clock.x_now()
        try:
            store(*stored, project=project, x_now=x_now)
        except DATABASE_AWAY:
            raise
        except DatabaseError:
            logger.exception("posts of the stream could not be stored; their ids alone are")
            store(*stored, project=project, x_now=x_now, ids_alone=True)

    def _stubbornly(self, act: Callable[[], None]) -> None:
        """Retry until the database is available: the lines of a batch come only once."""
        asked: float | None = None
        while True:
            try:
                return act()
            except DATABASE_AWAY as error:
                if self.stop.is_set():
                    asked = asked or time.monotonic()
                    if time.monotonic() - asked > _LAST_WORDS_SECONDS:
                        raise
                logger.warning("not stored yet, because the database failed: %s", why_lost(error))
                connection.close()
                time.sleep(0.2)

    def _look(self) -> Pause | None:
        """The lease, the credential with its money, and the rules; a Pause ends the connection."""
        try:
            stream_lease.renew(self.asker.lease)
            check_payer(self.asker.who)
            if self.rules.look():
                self._listeners = self.rules.listeners
        except NoTurnError as none:
            return Pause(none.why, none.wait, may_end_early=none.may_end_early)
        except DATABASE_AWAY as error:
            logger.warning("the database failed: %s", why_lost(error))
            connection.close()
        if not self.rules.synced.rules:
            return Pause("No active source has a rule.", NO_TIME, may_end_early=True)
        return None


def _how_far(lease: Lease) -> tuple[datetime | None, datetime]:
    """The time up to which everything is stored, by X's clock; and the database's clock."""
    with cursor() as db:
        row: tuple[datetime | None, datetime] = db.execute(_HOW_FAR, lease.params).fetchall()[0]
    return row
