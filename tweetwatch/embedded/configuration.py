"""The embedded server's settings, in a file of their own that `postgresql.conf` includes."""

from __future__ import annotations

import os
from pathlib import Path

from tweetwatch.embedded.resources import memory, shared_buffers

# Measured for many small updates of a few hot tables; synchronous_commit stays on. After each
# checkpoint every changed page goes whole into the WAL once, hence few checkpoints
# (docs/postgresql.md).
_SETTINGS = """\
# Written on every start of the embedded server; changes made here are lost.
max_connections = 200
shared_buffers = {shared_buffers}MB
max_wal_size = 4GB
checkpoint_timeout = 30min
autovacuum_naptime = 10s
autovacuum_vacuum_cost_limit = 2000
random_page_cost = 1.1
timezone = 'UTC'
log_min_messages = warning
# Authentication is "trust": the socket is for the account that runs the server (and root) alone.
unix_socket_permissions = 0700
"""
_INCLUDE = "include_if_exists = 'tweetwatch.conf'"


def write_settings(data: Path) -> None:
    """Write both files if they are not up to date. To be called as the owner of the data."""
    settings = _SETTINGS.format(shared_buffers=shared_buffers(memory()))
    _write(data / "tweetwatch.conf", settings)
    main = data / "postgresql.conf"
    text = main.read_text()
    if _INCLUDE not in text.splitlines():
        _write(main, f"{text.rstrip()}\n\n{_INCLUDE}\n")


def _write(path: Path, text: str) -> None:
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path)
