"""Acts that take turns, round after round, and how long this process waits for its statements."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

import psycopg

from trackers.timelines.homes import built, moment, on_read

Times = dict[str, list[float]]
Name = TypeVar("Name", bound=Hashable)


def in_turns(acts: Mapping[Name, Callable[[], object]], *, rounds: int) -> dict[Name, list[float]]:
    """Milliseconds of each act, round by round; every other round goes the other way. What is done
    for the first time, statements prepared and caches filled, is not counted."""
    took: dict[Name, list[float]] = {name: [] for name in acts}
    for number in range(rounds + 1):
        for name in list(acts)[:: -1 if number % 2 else 1]:
            begun = time.perf_counter()
            acts[name]()
            if number:
                took[name].append(1000 * (time.perf_counter() - begun))
    return took


class Clock:
    """Sums up the waits for statements, in seconds: not what Python does between them."""

    def __init__(self) -> None:
        self.spent, self.depth = 0.0, 0

    def of(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **how: Any) -> Any:
            begun = time.perf_counter()
            self.depth += 1
            try:
                return run(*args, **how)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.spent += time.perf_counter() - begun

        return timed


@contextmanager
def sql_clock() -> Iterator[Clock]:
    """Both ways of asking: a statement, and several in one trip, waited for at its end."""
    clock = Clock()
    ask = clock.of(built.ask_all)
    with (
        patch.object(psycopg.Cursor, "execute", clock.of(psycopg.Cursor.execute)),
        patch.object(built, "ask_all", ask),
        patch.object(on_read, "ask_all", ask),
        patch.object(moment, "fetch_together", ask),
    ):
        yield clock
