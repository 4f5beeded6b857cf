"""What every bench is given: how large it is to be, whom to tell, databases and processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.database import Databases
from tests.benchmarks.processes import Processes
from tests.benchmarks.results import Result

Say = Callable[[str], None]
# Below this share of its full length a bench shows that it runs, and measures nothing.
SMOKE = 0.05


@dataclass(frozen=True, slots=True)
class Size:
    """How long and how large: `scale` multiplies every length, the rest replaces a default."""

    scale: float = 1.0
    tweets: int | None = None
    chosen_workers: int | None = None
    ten_million: bool = False

    def seconds(self, full: float, *, least: float = 1.0) -> float:
        return max(least, full * self.scale)

    def many(self, full: int) -> int:
        """So many tweets, where the bench's own number is 1 million; in proportion else."""
        return full if self.tweets is None else max(1, full * self.tweets // 1_000_000)

    @property
    def is_smoke(self) -> bool:
        return self.scale < SMOKE

    @property
    def workers(self) -> int:
        return self.chosen_workers or 2 * len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Workshop:
    size: Size
    say: Say
    processes: Processes
    databases: Databases
    # Where curves are to be drawn into; none: nowhere.
    pictures: Path | None = None
    # Databases that take long to load are kept, and used again.
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class Bench:
    """At full length it takes `minutes` and `besides`, which no scale shortens: loading, starts."""

    name: str
    measures: str
    minutes: float
    besides: float
    run: Callable[[Workshop], Result]


@contextmanager
def workshop(
    size: Size, say: Say, *, pictures: Path | None = None, keeps: bool = False
) -> Iterator[Workshop]:
    """Whatever was started in it is ended, and every database dropped, however it is left."""
    with ExitStack() as stack:
        databases = Databases()
        stack.callback(databases.close)
        processes = Processes()
        stack.callback(processes.close)
        yield Workshop(size, say, processes, databases, pictures, keeps)
