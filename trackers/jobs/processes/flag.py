"""An event that no killed process can keep: one shared byte, no lock.

`multiprocessing.Event.set()` waits for the condition's lock. A sentinel that dies inside `wait()`
never releases that lock, and the main process, which sets the event in its signal handler, then
hangs for ever (django-q2 issue 346). A byte has no owner.
"""

from __future__ import annotations

import mmap
import time

# Seconds between looks, so how late a waiter may notice; 20 a second cost nothing measurable.
_LOOK_EVERY = 0.05


class Flag:
    """Replaces `multiprocessing.Event` between a process and those that it forks."""

    def __init__(self) -> None:
        self._byte = mmap.mmap(-1, 1)

    def is_set(self) -> bool:
        return self._byte[0] != 0

    def set(self) -> None:
        self._byte[0] = 1

    def clear(self) -> None:
        self._byte[0] = 0

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, at most `timeout` seconds; return whether it is."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set():
            left = _LOOK_EVERY if until is None else until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _LOOK_EVERY))
        return True
