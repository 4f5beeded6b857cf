"""A process that is started again when it has ended, as systemd does."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from tests.conftest import PROJECT

RESTART_AFTER = 0.5


class Supervised:
    """`command`: of `manage.py`. `environment` and `note_end` are the subclass's; `expected`: what
    a fault has just done to it, which `note_end` sees and then is over."""

    command: tuple[str, ...] = ()

    def __init__(self, log):
        self.log = log
        self.process, self.ended_at = None, 0.0
        self.wanted, self.expected = False, None
        # Without it the thread that supervises could begin a second one, which nobody would end.
        self.lock = threading.Lock()

    def start(self):
        with self.lock:
            self.wanted = True
            self._begin()

    def _begin(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", *self.command],
                cwd=PROJECT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def supervise(self):
        """Note an end that came, and start again what should run."""
        with self.lock:
            if self.process is None:
                if self.wanted and time.time() - self.ended_at >= RESTART_AFTER:
                    self._begin()
                return
            status = self.process.poll()
            if status is not None:
                self.note_end(status)
                self.process, self.ended_at, self.expected = None, time.time(), None

    def take(self):
        """The process, or None; from now on it is not started again."""
        with self.lock:
            process, self.process, self.wanted = self.process, None, False
        return process
