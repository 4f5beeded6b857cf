"""Processes that one command starts and ends: each dies with it, even on SIGKILL."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from trackers.jobs.processes.mortality import die_with


class Child:
    """A process with its own log; Ctrl-C in the terminal reaches only the command."""

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, env: Mapping[str, str]
    ) -> None:
        self.name, self.log = name, log
        self._command, self._env = list(command), dict(env)
        self.restarts = 0
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        parent = os.getpid()
        with self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own programs
                self._command,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: die_with(parent),
            )

    def restart(self) -> None:
        self.restarts += 1
        self.process = self._start()

    def has_died(self) -> bool:
        return self.process.poll() is not None

    def how_it_died(self) -> str:
        code = self.process.returncode
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"

    def last_lines(self, count: int = 8) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"    {line}" for line in lines[-count:])


def end_children(children: Sequence[Child], *, within: float = 15.0) -> list[str]:
    """SIGTERM to each in turn, newest first; return the names of those that had to be killed."""
    killed = []
    for child in reversed(children):
        if child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + within
    for child in reversed(children):
        try:
            child.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()
            child.process.wait()
            killed.append(child.name)
    return killed
