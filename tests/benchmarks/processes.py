"""The processes a bench starts: a fake X and clusters, each ended by its pid, also on Ctrl-C.

Every one dies with the process of the bench, even when that is killed with -9.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil
import requests

from tests.benchmarks.database import PROJECT, Database
from trackers.management.child_processes import Child, end_children

SEED = 11
MANAGE = str(PROJECT / "manage.py")
Found = TypeVar("Found")


def wait_until(fact: Callable[[], Found], *, within: float, what: str) -> Found:
    """The fact's first true value. RuntimeError with `what` when there is none in that time."""
    deadline = time.monotonic() + within
    while not (value := fact()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"After {within:g} s still not: {what}.")
        time.sleep(0.05)
    return value


class Processes:
    """What was started and still has to be ended; its logs are gone with it."""

    def __init__(self) -> None:
        self._logs = tempfile.TemporaryDirectory(prefix="tweetwatch-bench-")
        self._children: list[Child] = []

    @contextmanager
    def running(
        self, name: str, command: Sequence[str], *, env: dict[str, str], within: float = 30.0
    ) -> Iterator[Child]:
        log = Path(self._logs.name) / f"{len(list(Path(self._logs.name).iterdir()))}-{name}.log"
        child = Child(name, [sys.executable, *command], log=log, env=env)
        self._children.append(child)
        try:
            yield child
            if child.has_died():
                raise RuntimeError(f"{name} {child.how_it_died()}:\n{child.last_lines()}")
        finally:
            end_children([child], within=within)
            end_group(child)
            self._children.remove(child)

    def close(self) -> None:
        end_children(self._children, within=5)
        self._logs.cleanup()


def end_group(child: Child) -> None:
    """What django-q2's own cluster leaves behind when it had to be killed."""
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class World:
    """A fake X whose every figure moves and whose windows are never full."""

    url: str
    tweets: int
    start_ms: int
    pid: int

    def tell(self, method: str, path: str, json: Any = None) -> Any:
        with requests.Session() as session:
            session.trust_env = False
            reply = session.request(method, f"{self.url}/_fake/{path}", json=json, timeout=60)
        reply.raise_for_status()
        return reply.json()

    def answered(self) -> int:
        return int(self.tell("GET", "totals")["tweets_answered"])


@contextmanager
def world(processes: Processes, *, tweets: int, latency_ms: float = 0) -> Iterator[World]:
    port, start_ms = free_port(), int(time.time() * 1000)
    options = {"port": port, "seed": SEED, "tweets": tweets, "start": start_ms}
    flags = [f"--{name}={value}" for name, value in options.items()]
    # Held ready, all of them: what is measured here is not the fake. Twice as many, since it lets
    # go of the half that was not asked for lately.
    flags.append(f"--keep={2 * tweets + 1000}")
    command = [MANAGE, "fakex", *flags]
    with processes.running("fakex", command, env=dict(os.environ)) as child:
        wait_until(
            lambda: child.has_died() or is_listening(port), within=30, what="the fake X listens"
        )
        x = World(f"http://127.0.0.1:{port}", tweets, start_ms, child.process.pid)
        still = {"deleted": 0, "protected": 0, "suspended": 0}
        x.tell("PUT", "world", {"engagement": "busy", **still})
        many = {"token": 100_000_000, "app": 100_000_000, "window": 900}
        x.tell("PUT", "limits", {"GET /2/tweets": many, "GET /2/users": many})
        x.tell("PUT", "credentials", {"strict": False})
        x.tell("PUT", "log", {"detail": "counts"})
        x.tell("PUT", "latency", {"ms": latency_ms})
        yield x


@dataclass(frozen=True)
class Cluster:
    """A running `manage.py qcluster`."""

    child: Child

    def pids(self) -> dict[str, list[int]]:
        """Pids by kind, as the processes call themselves in their titles and by their places."""
        main = psutil.Process(self.child.process.pid)
        sentinels = main.children()
        below = [child for sentinel in sentinels for child in sentinel.children()]
        kinds: dict[str, list[int]] = {"main": [main.pid, *(one.pid for one in sentinels)]}
        for one in below:
            kinds.setdefault(kind_of(one), []).append(one.pid)
        return kinds


def kind_of(process: psutil.Process) -> str:
    title = " ".join(process.cmdline())
    return next((kind for kind in ("pusher", "monitor") if kind in title), "worker")


@contextmanager
def cluster(
    processes: Processes, database: Database, *, workers: int, **environment: str
) -> Iterator[Cluster]:
    """A cluster with so many workers, which are all there."""
    env = database.environment | {"WORKERS": str(workers), **environment}
    with processes.running("qcluster", [MANAGE, "qcluster"], env=env, within=60) as child:
        made = Cluster(child)
        wait_until(
            lambda: child.has_died() or len(made.pids().get("worker", [])) >= workers,
            within=60,
            what=f"{workers} workers live",
        )
        yield made


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
