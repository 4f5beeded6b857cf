"""A thread of the main process that writes the cluster's heartbeats and runs the watchdog.

A thread, so that a hanging database never keeps main from its signals; in main, so that it starts
after the only fork and shares nothing with the sentinel but the channel of its news.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import suppress
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from trackers.jobs.processes import heartbeats
from trackers.jobs.processes.channel import Channel
from trackers.jobs.processes.heartbeats import SignOfLife
from trackers.jobs.processes.watchdog import Watchdog
from trackers.standbys.beat import BEAT_EVERY, beat_of_primary, is_read_elsewhere

logger = logging.getLogger(__name__)

# Seconds. The guard reports its children twice a second. When it is silent for longer than this, it
# is stuck, and its children are no longer recorded as seen.
_NEWS_GOOD_FOR = 5.0
_MAX_FAREWELL = 5.0


def short_connection(*, statement_timeout: str = "3s") -> BaseDatabaseWrapper:
    """A connection for the calling thread alone, which gives up after a few seconds."""
    connection = connections.create_connection(DEFAULT_DB_ALIAS)
    options = dict(connection.settings_dict.get("OPTIONS", {}))
    options.pop("pool", None)
    options["connect_timeout"] = 3
    options["tcp_user_timeout"] = 5000
    options["options"] = (
        f"{options.get('options', '')} -c statement_timeout={statement_timeout}".strip()
    )
    connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}
    return connection


class Lookout(threading.Thread):
    """Beats every `every` seconds from `start()` to `close()`; `verdict` is the watchdog's bark."""

    def __init__(self, cluster: UUID, news: Channel, *, every: float) -> None:
        super().__init__(name="lookout", daemon=True)
        self.verdict: str | None = None
        self._cluster = cluster
        self._news = news
        self._every = every
        self._main = SignOfLife("main", os.getpid(), time.monotonic())
        self._signs: tuple[SignOfLife, ...] = ()
        self._news_at = 0.0
        self._watchdog = Watchdog(cluster)
        self._away = False
        self._end = threading.Event()

    def run(self) -> None:
        connection = short_connection()
        self._look(connection)
        look_at = time.monotonic() + self._every
        while not self._end.wait(self._pause(look_at)):
            if is_read_elsewhere():
                self._beat_of_primary(connection)
            if time.monotonic() >= look_at:
                self._look(connection)
                look_at = time.monotonic() + self._every
        with suppress(Exception):
            heartbeats.delete_cluster(connection, self._cluster)
        with suppress(Exception):
            connection.close()

    def close(self) -> None:
        """Remove the cluster's rows and end; to be called when its processes are gone."""
        self._end.set()
        self.join(_MAX_FAREWELL)

    def _pause(self, look_at: float) -> float:
        left = max(0.0, look_at - time.monotonic())
        return min(left, BEAT_EVERY) if is_read_elsewhere() else left

    def _beat_of_primary(self, connection: BaseDatabaseWrapper) -> None:
        """If it fails, standbys count as behind, and the next look says why."""
        try:
            beat_of_primary(connection)
        except Exception:
            with suppress(Exception):
                connection.close()

    def _look(self, connection: BaseDatabaseWrapper) -> None:
        try:
            self._beat(connection)
            self.verdict = self._watchdog.look(connection)
        # Catch all: a thread that ends silently would be worse. An error is not a verdict.
        except Exception:
            if not self._away:
                logger.warning("The cluster could not write its heartbeat.", exc_info=True)
            self._away = True
            self._watchdog = Watchdog(self._cluster)
            with suppress(Exception):
                connection.close()
        else:
            self._away = False

    def _beat(self, connection: BaseDatabaseWrapper) -> None:
        signs: tuple[SignOfLife, ...] | None = self._news.latest()
        now = time.monotonic()
        if signs is not None:
            self._signs, self._news_at = signs, now
        known = (self._main, *self._signs)
        fresh = now - self._news_at < self._every + _NEWS_GOOD_FOR
        heartbeats.beat(connection, self._cluster, seen=known if fresh else known[:1], known=known)
