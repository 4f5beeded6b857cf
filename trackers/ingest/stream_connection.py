"""One open stream: the hole before it becomes gaps, and its lines are stored, until it ends."""

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

from trackers.ingest import stream_lease
from trackers.ingest.stream_clock import DATES_ARE_CUT_TO, Clock, clock_of
from trackers.ingest.stream_garbled import Garbled
from trackers.ingest.stream_holes import open_gaps
from trackers.ingest.stream_ladder import Ladder
from trackers.ingest.stream_lease import Lease
from trackers.ingest.stream_lines import Batch, sort_out
from trackers.ingest.stream_reader import Reader
from trackers.ingest.stream_rules import Asking, Synced, synchronise
from trackers.ingest.stream_sources import Listeners, Wanted, wanted_now
from trackers.ingest.stream_store import Margins, store
from trackers.ingest.stream_turns import LOOKS_AGAIN, NoTurnError, Payer, check_money
from trackers.xapi.errors import XError
from trackers.xapi.stream import Opened
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

# Deadlocks, connections that broke, a server that only reads: the same transaction, again.
AWAY = (OperationalError, InterfaceError, InternalError)
NO_TIME = timedelta(0)
# How long what was read is still stored when the process is asked to end.
LAST_WORDS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Pause:
    """Not connected for `wait`, and why. `looks`: sooner when a person acts, seen without X."""

    because: str
    wait: timedelta
    looks: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    asking: Asking
    margins: Margins

    @property
    def lease(self) -> timedelta:
        """Longer than any request: nobody renews a lease while X is asked."""
        return max(2 * self.asking.timeout, self.asking.silence + self.asking.timeout)


# `stored_until`: what was before is in the gaps that the same transaction opens.
OPENED = """
    UPDATE trackers_stream
    SET state = 'open', state_since = now(), because = '', connected_at = now(), heard_at = now(),
        next_try_at = NULL, connects = connects + 1, skew = %(skew)s,
        stored_until = greatest(stored_until, %(x_now)s::timestamptz),
        lease_until = now() + %(lasts)s::interval
    WHERE name = %(name)s AND lease = %(token)s
"""
HOW_FAR = "SELECT stored_until, clock_timestamp() FROM trackers_stream WHERE name = %(name)s"


@dataclass(slots=True)
class Connection:
    """An open stream and what it needs to be stored; `synced` is as X's rules are, at its end."""

    settings: Settings
    stop: threading.Event
    lease: Lease
    who: Payer
    wanted: dict[int, Wanted]
    synced: Synced
    opened: Opened
    ladder: Ladder
    garbled: Garbled
    _reader: Reader = field(init=False)
    _listeners: Listeners = field(init=False)
    _clock: Clock = field(init=False)
    _farewell: str = ""
    _heard: bool = False
    _looked: float = 0.0

    def listen(self) -> Pause:
        """Tell of the hole, and store what comes until the end; why, and when to connect again."""
        self._listeners = Listeners(self.wanted, self.synced.by_rule)
        self._reader = Reader(self.opened)
        try:
            # Before anything that came after it is stored.
            self._stubbornly(self._begin)
            self._looked = time.monotonic()
            return self._listen()
        finally:
            self._reader.leave()

    def _begin(self) -> None:
        came_at = self.opened.at
        with transaction.atomic():
            stream_lease.fence(self.lease)
            stored_until, now = how_far(self.lease)
            self._clock = clock_of(self.opened.date, came_at, now=now, now_at=time.monotonic())
            at = self._clock.x_at(came_at)
            since = stored_until or at
            # Of a rule that X refused nothing comes, and nothing is missing.
            ruled = {id: one for id, one in self.wanted.items() if id in self.synced.rules}
            self._open_gaps(ruled, since, max(at + DATES_ARE_CUT_TO, since))
            stream_lease.written(OPENED, self.lease, skew=self._clock.skew, x_now=at)

    def _open_gaps(self, wanted: dict[int, Wanted], begins: datetime, ends: datetime) -> None:
        margins = self.settings.margins
        hole = margins.around(begins, ends)
        open_gaps(wanted.values(), hole, polled_in=margins.polled_in)

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
                return Pause("it was asked to end", NO_TIME)
            if time.monotonic() - self._looked >= LOOKS_AGAIN.total_seconds():
                if pause := self._look():
                    self._drain()
                    return pause
                self._looked = time.monotonic()

    def _take(self) -> Batch:
        """The next lines, stored."""
        batch = sort_out(self._reader.take(), self._listeners, self._clock)
        self._farewell = self._farewell or batch.farewell
        if batch.is_empty:
            return batch
        if not self._heard:
            # X talks: the next failure is the first one.
            self.ladder.reset()
            self._heard = True
        self._stubbornly(partial(self._store, batch))
        self.garbled.add(batch)
        return batch

    def _drain(self) -> None:
        """Read no more, and store what is read."""
        self._reader.close()
        while self._take().end is None:
            pass

    def _broken(self, error: XError | None) -> Pause:
        because = self._farewell or (error.reason if error else "X closed the connection.")
        return Pause(because, self.ladder.next("network"))

    def _store(self, batch: Batch) -> None:
        given = (batch, self.lease, self._listeners, self.settings.margins)
        x_now = self._clock.x_now()
        try:
            store(*given, project=self.who.project, x_now=x_now)
        except AWAY:
            raise
        except DatabaseError:
            logger.exception("posts of the stream could not be stored; their ids alone are")
            store(*given, project=self.who.project, x_now=x_now, ids_alone=True)

    def _stubbornly(self, act: Callable[[], None]) -> None:
        """Do it again until the database is there: the lines of a batch come only once."""
        asked: float | None = None
        while True:
            try:
                return act()
            except AWAY as error:
                if self.stop.is_set():
                    asked = asked or time.monotonic()
                    if time.monotonic() - asked > LAST_WORDS_SECONDS:
                        raise
                logger.warning("not stored yet: the database is away (%s)", type(error).__name__)
                connection.close()
                time.sleep(0.2)

    def _look(self) -> Pause | None:
        """The lease, the money, and whether sources have changed; a Pause ends the connection."""
        try:
            stream_lease.renew(self.lease)
            check_money(self.who)
            wanted = wanted_now()
            return None if values(wanted) == values(self.wanted) else self._change(wanted)
        except NoTurnError as none:
            return Pause(none.why, none.wait, looks=none.looks)
        except AWAY as error:
            logger.warning("the database is away (%s)", type(error).__name__)
            connection.close()
        except XError as error:
            # The rules stay as they are until the next look.
            logger.warning("the rules of the stream were not changed: %s", error.reason)
        return None

    def _change(self, wanted: dict[int, Wanted]) -> Pause | None:
        """Make X's rules those of the sources, without a new connection."""
        known = values(self.wanted)
        new = {id: one for id, one in wanted.items() if known.get(id) != one.value}
        self.synced = synchronise(wanted, self.who, self.settings.asking, self.synced)
        self.wanted, self._listeners = wanted, Listeners(wanted, self.synced.by_rule)
        if not self.synced.rules:
            return Pause("No active source has a rule.", NO_TIME, looks=True)
        if new:
            self._stubbornly(partial(self._open_gaps_of, new))
        return None

    def _open_gaps_of(self, new: dict[int, Wanted]) -> None:
        """A rule acts some time after it was made: search finds what came before."""
        x_now = self._clock.x_now()
        with transaction.atomic():
            stream_lease.fence(self.lease)
            self._open_gaps(new, x_now, x_now + DATES_ARE_CUT_TO)


def how_far(lease: Lease) -> tuple[datetime | None, datetime]:
    """Until when everything is stored, by X's clock; and the database's clock."""
    with cursor() as db:
        row: tuple[datetime | None, datetime] = db.execute(HOW_FAR, lease.given).fetchall()[0]
    return row


def values(wanted: dict[int, Wanted]) -> dict[int, str]:
    return {source: one.value for source, one in wanted.items()}
