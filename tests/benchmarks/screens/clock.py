"""How long each thread of this process waits for its statements, from the import of this on."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg


class Clock(threading.local):
    """What this thread's statements took so far, in seconds, and how many there were."""

    spent = 0.0
    statements = 0
    depth = 0

    def reset(self) -> None:
        self.spent, self.statements = 0.0, 0


clock = Clock()
run = psycopg.Cursor.execute


def timed(*args: Any, **how: Any) -> Any:
    # Django's cursors call psycopg's: the outer one counts.
    clock.depth += 1
    begun = time.perf_counter()
    try:
        return run(*args, **how)
    finally:
        clock.depth -= 1
        if not clock.depth:
            clock.spent += time.perf_counter() - begun
            clock.statements += 1


psycopg.Cursor.execute = timed  # type: ignore[method-assign]
