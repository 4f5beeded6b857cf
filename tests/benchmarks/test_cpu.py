"""The processors' time of a server whose processes come and go is never lost on the way."""

from __future__ import annotations

import itertools
import subprocess
import sys

from tests.benchmarks import cpu

# As a postmaster: one process after the other works for a moment and ends.
SERVER = """
import os, time
print("up", flush=True)
while True:
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        begun = time.process_time()
        while time.process_time() - begun < 0.03:
            pass
        os._exit(0)
"""
READINGS, A_TICK = 2000, 0.01


def test_time_goes_from_the_living_to_the_ended_and_is_always_counted():
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout.readline() == b"up\n"
            readings = [cpu.of_server(server.pid) for _ in range(READINGS)]
        finally:
            server.kill()

    assert readings[-1] > readings[0]
    assert min(after - before for before, after in itertools.pairwise(readings)) > -2 * A_TICK
