"""The processors' time of a server whose processes come and go is never lost on the way."""

from __future__ import annotations

import subprocess
import sys

from tests.benchmarks import cpu

# As a postmaster: a process of it works for a moment, and ends when it is told to.
SERVER = """
import os, sys, time
go, end = os.pipe()
if child := os.fork():
    sys.stdin.readline()
    os.write(end, b"x")
    os.waitpid(child, 0)
    print("ended", flush=True)
    sys.stdin.readline()
else:
    while time.process_time() < 0.2:
        pass
    print("worked", flush=True)
    os.read(go, 1)
"""


def test_time_of_a_process_that_ends_while_it_is_read_is_counted(monkeypatch):
    read_process = cpu.of_process
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:

        def end_and_read(pid):
            monkeypatch.undo()
            server.stdin.write(b"\n")
            server.stdin.flush()
            assert server.stdout.readline() == b"ended\n"
            return read_process(pid)

        assert server.stdout.readline() == b"worked\n"
        before = cpu.of_server(server.pid)
        monkeypatch.setattr(cpu, "of_process", end_and_read)
        reading = cpu.of_server(server.pid)
        is_ended = not cpu.psutil.Process(server.pid).children()

    assert is_ended
    assert reading >= before > 0.1
