"""Requests that hold a thread for long, of all kinds together: event streams, files that are sent,
files and large bodies that arrive.

Each kind has a bound of its own, but the bounds add up to more threads than a process has. So each
also takes one of the threads that all kinds share, and pages keep the rest.
"""

from __future__ import annotations

import threading

_FOR_PAGES = 2

_lock = threading.Lock()
# As `deploy/` starts a process, which has eight threads.
_most = 6
_taken = 0


def share_threads(threads: int) -> None:
    """The process has so many. One that has hardly any still does one thing that lasts."""
    global _most
    _most = max(1, threads - _FOR_PAGES)


def take_thread() -> bool:
    global _taken
    with _lock:
        if _taken >= _most:
            return False
        _taken += 1
        return True


def give_thread_back() -> None:
    global _taken
    with _lock:
        _taken -= 1


class LastingPlaces(threading.BoundedSemaphore):
    """The places of one kind. Whoever finds none, or no thread that is shared, does not wait."""

    def acquire(self, blocking: bool = False, timeout: float | None = None) -> bool:
        if not take_thread():
            return False
        if super().acquire(blocking=False):
            return True
        give_thread_back()
        return False

    def release(self, n: int = 1) -> None:
        super().release(n)
        for _ in range(n):
            give_thread_back()
