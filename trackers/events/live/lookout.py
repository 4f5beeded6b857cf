"""One look for new events, twice a second, for all streams of this process."""

from __future__ import annotations

import threading
import time

from trackers.events.live.read import newest_place

# Seconds.
_EVERY = 0.5


class Lookout:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = 0
        self._due = 0.0

    def newest(self) -> int:
        """The place of the newest row, at most half a second old."""
        with self._lock:
            return self._newest if time.monotonic() < self._due else self._look()

    def newest_now(self) -> int:
        with self._lock:
            return self._look()

    def _look(self) -> int:
        self._newest = newest_place()
        self._due = time.monotonic() + _EVERY
        return self._newest

    def until_due(self) -> float:
        """Seconds until it is worth asking again."""
        return max(0.0, self._due - time.monotonic())


lookout = Lookout()
