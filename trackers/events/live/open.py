"""Live streams: the places of this process for them, since each occupies a thread that pages may
need, and how many each process has open, as `status` and `/metrics` report it.

The row of a process says how many of its places are taken. It is written when
that changes, and every ten seconds while a stream is open, so a killed process soon drops out. One
without an open stream is left out too.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from tweetwatch.database import LOST, cursor
from tweetwatch.http.lasting import give_thread_back, take_thread

logger = logging.getLogger(__name__)

# Seconds after which the row is written again.
_EVERY = 10.0
_SILENT_AFTER = timedelta(seconds=30)


# Losing it in a crash of the server costs nothing: the setting ends with the statement.
_REPORT_PLACES = """
    INSERT INTO trackers_streamplaces (host, pid, open, places, seen_at)
    SELECT %(host)s, %(pid)s, %(open)s, %(places)s, now()
    WHERE set_config('synchronous_commit', 'off', true) = 'off'
    ON CONFLICT (host, pid) DO UPDATE
    SET open = excluded.open, places = excluded.places, seen_at = excluded.seen_at
"""
_READ = """
    SELECT coalesce(sum(open), 0), coalesce(sum(places), 0), count(*)
    FROM trackers_streamplaces WHERE open > 0 AND seen_at > now() - %(silent)s
"""
_PRUNE_PLACES = "DELETE FROM trackers_streamplaces WHERE seen_at < now() - interval '1 hour'"


@dataclass(frozen=True, slots=True)
class Streams:
    """Live streams that are open, and the places for them, in the processes that have any open."""

    open: int
    places: int
    processes: int


_lock = threading.Lock()
# Places that streams of this process occupy.
taken = 0


@contextmanager
def place(most: int) -> Iterator[bool]:
    """Take a place if one is free, and yield whether it was; give it back at the end."""
    has_one = _take_place(most)
    try:
        yield has_one
    finally:
        if has_one:
            _give_back()


def _take_place(most: int) -> bool:
    global taken
    with _lock:
        if taken >= most or not take_thread():
            return False
        taken += 1
        return True


def _give_back() -> None:
    global taken
    with _lock:
        taken -= 1
    give_thread_back()


class PlacesReporter:
    """One per process; each stream is a thread of the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reported = 0
        self._again_at = 0.0

    def report(self, most: int) -> None:
        """Record how many are open, if that has changed; skipped while the database is away."""
        with self._lock:
            now, count = time.monotonic(), taken
            if count == self._reported and (not count or now < self._again_at):
                return
            self._reported, self._again_at = count, now + _EVERY
            params = {"open": count, "places": most}
            try:
                with cursor() as db:
                    db.execute(
                        _REPORT_PLACES, {"host": socket.gethostname(), "pid": os.getpid(), **params}
                    )
            except LOST as error:
                self._reported = -1
                logger.warning("cannot tell how many streams are open (%s)", type(error).__name__)


reporter = PlacesReporter()


def streams() -> Streams:
    with cursor() as db:
        row = db.execute(_READ, {"silent": _SILENT_AFTER}).fetchone()
    assert row is not None
    return Streams(*map(int, row))


def prune_silent_places() -> None:
    """Delete the rows of processes that have been silent for an hour."""
    with cursor() as db:
        db.execute(_PRUNE_PLACES)
