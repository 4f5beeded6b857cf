"""A host: one `qcluster`, which knows no more of the world than its two relays and its clock."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from datetime import datetime

import psutil

from tests.chaos.clock import Clock
from tests.chaos.ground import ROLE
from tests.chaos.supervised import Supervised

# "2026-11-27 09:02:28,486 WARNING 31570 trackers.updater.settle: …"
LOGGED = re.compile(r"([-\d]+ [\d:,]+) [A-Z]+ (\d+) ")
# A task that its alarm ends runs for longer.
FAMILY_EVERY = 2.0
TIMED_OUT = " X did not answer within "


def title(pid):
    """What a process calls itself: django-q2 writes what it is and does; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def send(pid, number):
    """Whether there was somebody to get the signal."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


class Host(Supervised):
    """`process` is the cluster's main one. `database`: another way to it than the server's socket,
    (host, port). `pids`: of all that belonged to it while a run supervised it."""

    command = ("qcluster",)

    def __init__(self, name, ground, relays, exchanges, *, workers, database=None):
        self.name, self.ground, self.workers = name, ground, workers
        self.database = relays.make(database or ground.postgres.socket)
        _, _, address = ground.x.url.rpartition("/")
        where, _, port = address.rpartition(":")
        follower = exchanges.follower(name)
        self.x = relays.make((where, int(port)), follower=follower)
        self.clock = Clock(ground.directory / f"{name}.clock")
        self.exits, self.unasked = [], []
        self.pids, self.counted_at = set(), 0.0
        super().__init__(ground.directory / f"{name}.log")

    def environment(self):
        where = f"postgres://{ROLE}:@127.0.0.1:{self.database.port}/tweetwatch?sslmode=disable"
        return self.ground.environment | {
            "DATABASE_URL": where,
            "X_API_BASE_URL": f"http://127.0.0.1:{self.x.port}",
            "WORKERS": str(self.workers),
            **self.clock.environment(),
        }

    def read_log(self):
        """Its log by its own clock: when, by which process, the line."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [
            (datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f").timestamp(), int(found[2]), line)
            for line in lines
            if (found := LOGGED.match(line))
        ]

    def supervise(self):
        super().supervise()
        if time.monotonic() - self.counted_at >= FAMILY_EVERY:
            self.pids.update(self.family())
            self.counted_at = time.monotonic()

    def note_end(self, status):
        self.exits.append((time.time(), status))
        if not self.expected and self.wanted:
            self.unasked.append((time.time(), status))

    def family(self):
        """Every process of the cluster, main first."""
        cluster = self.process
        if cluster is None:
            return []
        try:
            main = psutil.Process(cluster.pid)
            return [cluster.pid, *(child.pid for child in main.children(recursive=True))]
        except psutil.NoSuchProcess:
            return []

    def find(self, kind, *, busy=None):
        """The pids of a kind of process; of workers those in the midst of a batch, or idle."""
        family = self.family()
        if kind == "main":
            return family[:1]
        marks = {
            "worker": ("tweet:update",) if busy else (" idle",),
            "sentinel": (" sentinel",),
            "pusher": (" pusher",),
            "monitor": (" monitor",),
        }[kind]
        return [pid for pid in family[1:] if any(mark in title(pid) for mark in marks)]

    def freeze(self, kind, *, busy=None):
        """SIGSTOP one process that is as said, and is so still now that it stands; its pid."""
        for pid in self.find(kind, busy=busy):
            if not send(pid, signal.SIGSTOP):
                continue
            if pid in self.find(kind, busy=busy):
                return pid
            send(pid, signal.SIGCONT)
        return None

    def kill(self):
        """SIGKILL everything at once."""
        family = self.family()
        self.expected = True
        for pid in family:
            send(pid, signal.SIGKILL)
        return bool(family)

    def stop(self, within):
        """SIGTERM to the group; the exit status, None when it did not end."""
        cluster = self.take()
        if cluster is None:
            return 0
        with suppress(ProcessLookupError):
            os.killpg(cluster.pid, signal.SIGTERM)
        try:
            return cluster.wait(within)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.end(cluster)

    def end(self, cluster=None):
        cluster = cluster or self.process
        self.wanted = False
        if cluster is None:
            return
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(cluster.pid).children(recursive=True):
                send(child.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.killpg(cluster.pid, signal.SIGKILL)
        cluster.wait(10)
