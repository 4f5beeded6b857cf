"""A thread of the main process that records figures every few seconds.

Not in the lookout's thread: a count that takes long must not keep the cluster from its heartbeat.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from django.db import DEFAULT_DB_ALIAS, connections

from trackers.jobs.processes.lookout import short_connection

logger = logging.getLogger(__name__)

_MAX_FAREWELL = 5.0
# The timeout of a single statement. Counting a hundred million rows takes some twenty seconds.
_STATEMENT_TIMEOUT = "60s"
# The pause after a failure, as a multiple of the time that it took; never less than the usual one.
_FAILURE_PAUSE_FACTOR = 50


class Recorder(threading.Thread):
    """Calls `record` every `every` seconds from `start()` to `close()`, whatever it raises."""

    def __init__(self, record: Callable[[], None], *, every: float) -> None:
        super().__init__(name="recorder", daemon=True)
        self._record = record
        self._every = every
        self._failed = False
        self._end = threading.Event()

    def run(self) -> None:
        # This thread's own connection, under the alias that all code asks for.
        connections[DEFAULT_DB_ALIAS] = short_connection(statement_timeout=_STATEMENT_TIMEOUT)
        wait = 0.0
        while not self._end.wait(wait):
            wait = self._look()
        with suppress(Exception):
            connections[DEFAULT_DB_ALIAS].close()

    def close(self) -> None:
        self._end.set()
        self.join(_MAX_FAREWELL)

    def _look(self) -> float:
        """Record once; return the seconds until the next time."""
        began = time.monotonic()
        try:
            self._record()
        # A thread that ends silently would leave every page with old figures.
        except Exception:
            if not self._failed:
                logger.warning("The figures for the pages cannot be written.", exc_info=True)
            self._failed = True
            with suppress(Exception):
                connections[DEFAULT_DB_ALIAS].close()
            return max(self._every, _FAILURE_PAUSE_FACTOR * (time.monotonic() - began))
        self._failed = False
        return self._every
