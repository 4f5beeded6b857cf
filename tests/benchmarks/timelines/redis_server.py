"""A Redis of the bench's own, on a socket in a folder that goes with it; nothing is on disk."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trackers.management.child_processes import Child, end_children

WITHIN = 30.0


def missing() -> str:
    """How to install what is not there; empty when all is."""
    if not shutil.which("redis-server"):
        return "apt install redis-server (it need not run)"
    return "" if find_spec("redis") else "pip install redis"


@contextmanager
def running() -> Iterator[Any]:
    """A client of it."""
    import redis

    with tempfile.TemporaryDirectory(prefix="tweetwatch-redis-") as folder:
        address = f"{folder}/socket"
        options = {
            "port": "0",
            "unixsocket": address,
            "dir": folder,
            "save": "",
            "appendonly": "no",
        }
        command = ["redis-server", *(part for k, v in options.items() for part in (f"--{k}", v))]
        child = Child("redis", command, log=Path(folder) / "log", env=dict(os.environ))
        try:
            client = redis.Redis(unix_socket_path=address)
            deadline = time.monotonic() + WITHIN
            while not answers(client):
                if child.has_died() or time.monotonic() > deadline:
                    raise RuntimeError(f"Redis does not answer:\n{child.last_lines()}")
                time.sleep(0.05)
            yield client
            client.close()
        finally:
            end_children([child], within=5)


def answers(client: Any) -> bool:
    import redis

    try:
        return bool(client.ping())
    except redis.exceptions.ConnectionError:
        return False
