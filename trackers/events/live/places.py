"""How many streams this process has open: each occupies a thread that pages may need."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
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
        if taken >= most:
            return False
        taken += 1
        return True


def _give_back() -> None:
    global taken
    with _lock:
        taken -= 1
