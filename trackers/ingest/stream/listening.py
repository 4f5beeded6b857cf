"""Listening to X's filtered stream: one process, one connection, nothing lost without a gap.

lease ─> rules ─> connect ─> gaps for the hole ─> lines ─> batches ─> until it ends ─> wait ─> again
One thread stores, and also manages the rules at X; another one reads the lines.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db import connection

from trackers.credentials.models import Credential
from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.backoff import Backoff, at_most_a_window, spacing, trouble_of
from trackers.ingest.stream.connection import DATABASE_AWAY, NO_TIME, OpenStream, Pause
from trackers.ingest.stream.dead_connection import end_dead_connection
from trackers.ingest.stream.lease import DeposedError, Holder, Lease
from trackers.ingest.stream.lines import GarbledLog
from trackers.ingest.stream.listeners import WantedRule, wanted_now
from trackers.ingest.stream.models import Stream
from trackers.ingest.stream.requests import RECHECK_INTERVAL, Asker, NoTurnError, ask_in_turn, payer
from trackers.ingest.stream.rule_sync import RuleSync
from trackers.ingest.stream.rules import synchronise
from trackers.ingest.stream.settings import Settings
from trackers.ingest.stream.synced import Synced
from trackers.xapi.endpoints import STREAM
from trackers.xapi.errors import Depleted, RateLimited, XError
from trackers.xapi.stream import Opened, TooManyConnections, connect
from tweetwatch.database import why_lost

logger = logging.getLogger(__name__)

_STANDS_BY_SECONDS = 1.0
_A_MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class Listening:
    """The process that listens, or stands by."""

    settings: Settings
    # Ends it, after storing what was read.
    stop: threading.Event = field(default_factory=threading.Event)
    log: Callable[[str], None] = logger.info
    _backoff: Backoff = field(default_factory=Backoff)
    _synced: Synced = field(default_factory=Synced)
    _garbled: GarbledLog = field(default_factory=GarbledLog)
    _connected: float | None = None
    _spacing: timedelta = NO_TIME

    def run(self) -> None:
        """Until `stop`: take the lease, or stand by for it, and listen while it is ours."""
        last_said = ""
        while not self.stop.is_set():
            try:
                taken = stream_lease.take_lease(self.settings.lease)
            except DATABASE_AWAY as error:
                self._away(error)
                continue
            if isinstance(taken, Lease):
                last_said = ""
                self.log("this process listens to the stream now")
                self._hold(taken)
            else:
                last_said = self._stand_by(taken, last_said)

    def _stand_by(self, holder: Holder, last_words: str) -> str:
        sentence = f"another stream process holds it: {holder}"
        if sentence != last_words:
            self.log(sentence)
        self.stop.wait(min(_STANDS_BY_SECONDS, self.settings.lease.total_seconds() / 4))
        return sentence

    def _hold(self, lease: Lease) -> None:
        """Listen again and again, as long as the lease is ours."""
        self._synced = Synced()
        try:
            while not self.stop.is_set():
                try:
                    self._rest(lease, self.once(lease))
                except DATABASE_AWAY as error:
                    self._away(error)
            stream_lease.give_lease_back(lease, "it was asked to stop")
        except DeposedError:
            self.log("another stream process took over; this one stands by")
        except DATABASE_AWAY:
            # The lease simply runs out.
            logger.warning("the database could not be reached as the stream ended")

    def _away(self, error: Exception) -> None:
        logger.warning("trying again, because the database failed: %s", why_lost(error))
        connection.close()
        self.stop.wait(0.5)

    def once(self, lease: Lease) -> Pause:
        """Connect, and listen until it ends; returns what to do next."""
        wanted = wanted_now()
        if not wanted:
            return Pause(
                "There is no active source of this kind.", RECHECK_INTERVAL, may_end_early=True
            )
        try:
            who = payer()
            stream_lease.say(lease, Stream.State.CONNECTING, credential=who.name)
            asker = Asker(self.settings, lease, who)
            self._synced = synchronise(wanted, asker, self._synced)
            if not self._synced.rules:
                if self._synced.trouble:
                    raise self._synced.trouble
                return Pause("X refuses the rules of all sources.", _A_MINUTE)
            stream_lease.renew(lease)
            opened = ask_in_turn(STREAM, who, self._connect)
        except TooManyConnections as error:
            return self._one_too_many(asker, error)
        except NoTurnError as none:
            return Pause(none.why, none.wait, may_end_early=none.may_end_early)
        except XError as error:
            return self._failed(error)
        return self._listen(asker, wanted, opened)

    def _connect(self, credential: Credential) -> Opened:
        asking = self.settings.asking
        self._connected = time.monotonic()
        opened = connect(
            credential,
            base_url=asking.base_url,
            timeout=asking.timeout,
            silence=asking.silence,
        )
        self._spacing = spacing(opened.window)
        return opened

    def _one_too_many(self, asker: Asker, error: TooManyConnections) -> Pause:
        """X counts another connection: one of ours that died is ended, and the next try is soon."""
        pause = self._failed(error)
        if not end_dead_connection(asker):
            return pause
        self._backoff.reset()
        return Pause(
            f"{error.reason} It was our own, which had died; X has ended it.",
            self._backoff.next("network"),
        )

    def _failed(self, error: XError) -> Pause:
        """When to try again after X or the network failed."""
        if isinstance(error, Depleted):
            # The project has been stopped; the next look says so.
            return Pause(error.reason, NO_TIME, may_end_early=True)
        wait = self._backoff.next(trouble_of(error))
        if isinstance(error, RateLimited) and error.resets_at is not None:
            wait = max(wait, at_most_a_window(error.resets_at - datetime.now(UTC)))
        return Pause(error.reason, wait)

    def _listen(self, asker: Asker, wanted: dict[int, WantedRule], opened: Opened) -> Pause:
        self.log(f"connected with {asker.who.name}, rules: {len(self._synced.rules)}")
        rules = RuleSync(asker, wanted, self._synced)
        try:
            return OpenStream(
                asker, self.stop, rules, opened, self._backoff, self._garbled
            ).listen()
        finally:
            self._synced = rules.synced

    def _rest(self, lease: Lease, pause: Pause) -> None:
        """Wait, renewing the lease; if a person has to act, check now and then whether one has."""
        if self.stop.is_set():
            return
        since = time.monotonic()
        wait = RECHECK_INTERVAL if pause.may_end_early else max(pause.wait, self._spare())
        self._say_waiting(lease, pause, wait)
        ends = since + wait.total_seconds()
        while (left := ends - time.monotonic()) > 0:
            if self.stop.wait(min(left, RECHECK_INTERVAL.total_seconds())):
                return
            stream_lease.renew(lease)

    def _spare(self) -> timedelta:
        """How much longer the window of connects requires us to wait after the last one."""
        if self._connected is None:
            return NO_TIME
        return self._spacing - timedelta(seconds=time.monotonic() - self._connected)

    def _say_waiting(self, lease: Lease, pause: Pause, wait: timedelta) -> None:
        row = Stream.objects.get(name=stream_lease.STREAM_NAME)
        if (row.state, row.because) != (Stream.State.WAITING, pause.because[:300]):
            self.log(f"not connected: {pause.because}")
        stream_lease.say(
            lease,
            Stream.State.WAITING,
            pause.because,
            credential=row.credential,
            next_try=max(wait, pause.wait),
        )
