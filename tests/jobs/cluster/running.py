"""Look at, and end, a cluster that runs in processes of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psycopg
from django.utils import timezone
from django_q.signing import SignedPackage

PROJECT = Path(__file__).resolve().parents[3]
STOCK_BROKER = {"broker_class": None, "orm": "default"}
# The last word of a process's title, or the first of what a worker does.
ROLES = ("sentinel", "idle", "processing", "monitor", "pusher")


def poll(condition, *, seconds=90.0):
    """The first true value of `condition`, else the last false one."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


def stat(pid):
    """State and parent of a process; None when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)


def is_alive(pid):
    found = stat(pid)
    return found is not None and found[0] not in "ZX"


def children(parent):
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if (found := stat(pid)) and found[1] == parent and is_alive(pid)]


def title(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Running:
    """A `qcluster` with its own process group, on a database of its own."""

    def __init__(self, url, tmp_path, *, which="ours", arguments=(), **settings_over):
        self.url = url
        self.notes = tmp_path / f"notes-{uuid4().hex}"
        self.log = tmp_path / f"log-{uuid4().hex}"
        # Without the schedules of the migrations: their tasks would be done among those given here.
        over = {
            **{"workers": 2, "guard_cycle": 0.1, "poll": 0.1, "timeout": 20, "scheduler": False},
            **settings_over,
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.jobs.cluster.program"),
                    *(which, json.dumps(over), *arguments),
                ],
                cwd=PROJECT,
                env={**os.environ, "DATABASE_URL": url, "LOG_LEVEL": "INFO"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.seen = {self.process.pid}

    @property
    def pid(self):
        return self.process.pid

    def pids(self):
        """All its processes; those seen once are remembered, to be looked for when it is over."""
        family = [self.pid]
        for pid in family:
            family.extend(children(pid))
        self.seen.update(family)
        return family

    def find(self, role):
        """The pids of one of ROLES, in the order of their birth."""
        sign = f" {role} " if role == "processing" else f" {role}"
        return sorted(
            pid
            for pid in self.pids()
            if (sign in title(pid) if role == "processing" else title(pid).endswith(sign))
        )

    def workers(self):
        return sorted([*self.find("idle"), *self.find("processing")])

    def wait_until_up(self, *, workers=2):
        def up():
            return (
                len(self.find("idle")) == workers and self.find("pusher") and self.find("monitor")
            )

        assert poll(up, seconds=90), self.log_text()
        return self

    def log_text(self):
        return self.log.read_text()

    def enqueue(self, function, *args, **kwargs):
        word = uuid4().hex
        task = {
            "id": uuid4().hex,
            "name": f"{function} {word}",
            "func": f"tests.jobs.cluster.tasks.{function}",
            "args": (str(self.notes), word, *args),
            "kwargs": kwargs,
            "started": timezone.now(),
            "ack_failure": True,
        }
        with psycopg.connect(self.url) as connection:
            connection.execute(
                "INSERT INTO django_q_ormq (key, payload, lock) VALUES ('tweetwatch', %s, now())",
                [SignedPackage.dumps(task)],
            )
        return word

    def noted(self):
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    def does(self, function="note", *args, seconds=90.0, **kwargs):
        """Whether a task given now is done in time."""
        word = self.enqueue(function, *args, **kwargs)
        return poll(lambda: word in self.noted(), seconds=seconds)

    def ends(self, *, within):
        """Its exit status, or None if it still runs."""
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            return None

    def is_gone(self):
        self.process.poll()
        return not any(is_alive(pid) for pid in self.seen)

    def rows(self, columns="kind, pid"):
        with psycopg.connect(self.url) as connection:
            return connection.execute(f"SELECT {columns} FROM trackers_worker").fetchall()

    def close(self):
        """Whatever state it is in; by pid."""
        for pid in [*self.pids(), *self.seen]:
            with suppress(ProcessLookupError):
                if is_alive(pid):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait()
