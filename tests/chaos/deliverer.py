"""A process that delivers events, and what befalls it."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from tests.chaos.ground import ROLE
from tests.chaos.hosts import send
from tests.chaos.supervised import Supervised

TOTAL, BACKOFF_MOST = 2, 2


def handles(pid, number):
    """Whether the process has a handler of its own for the signal."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


class Deliverer(Supervised):
    """`manage.py deliver`, which knows no other way to the database than its relay; `expected`: the
    signal that ends it."""

    command = ("deliver", "--slots", "200")

    def __init__(self, number, ground, relays):
        self.name, self.ground, self.exits = f"deliverer{number}", ground, []
        self.database = relays.make(ground.postgres.socket)
        super().__init__(ground.directory / f"{self.name}.log")

    def environment(self):
        where = f"postgres://{ROLE}:@127.0.0.1:{self.database.port}/tweetwatch?sslmode=disable"
        return self.ground.environment | {
            "DATABASE_URL": where,
            "EGRESS_ALLOW": "127.0.0.0/8",
            "EGRESS_PLAIN_HTTP": "true",
            "BUS_CONNECT_TIMEOUT": "1",
            "BUS_TOTAL_TIMEOUT": str(TOTAL),
            "BUS_BACKOFF_MOST": str(BACKOFF_MOST),
            "BUS_SCRUB_AFTER": f"{self.ground.pace.lease:g}",
        }

    def note_end(self, status):
        asked = self.expected and not status
        if self.wanted and self.expected != signal.SIGKILL and not asked:
            self.exits.append(status)

    def end_by(self, number):
        """Send it a signal that ends it; whether there was one."""
        process = self.at_work()
        if process is None:
            return False
        self.expected = number
        return send(process.pid, number)

    def freeze(self):
        """SIGSTOP it; whether there was one."""
        process = self.at_work()
        return process is not None and send(process.pid, signal.SIGSTOP)

    def at_work(self):
        """The process, once it has a connection of the database and handles SIGTERM: one that is
        still loading its code ends by it as any program does, and has nothing to finish."""
        process = self.process
        ready = process is not None and self.database.sides and handles(process.pid, signal.SIGTERM)
        return process if ready else None

    def thaw(self):
        if (process := self.process) is not None:
            send(process.pid, signal.SIGCONT)

    def stop(self, within):
        """SIGTERM; the exit status, None when it did not end."""
        process = self.take()
        if process is None:
            return 0
        process.terminate()
        try:
            return process.wait(within)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()
            process.wait(10)

    def end(self):
        self.wanted = False
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)
