"""The embedded server's settings, in a file of their own that `postgresql.conf` includes."""

from __future__ import annotations

import os
from pathlib import Path

# Measured for many small updates of few hot tables; synchronous_commit stays on.
SETTINGS = """\
# Written on every start of the embedded server; changes made here are lost.
max_connections = 200
shared_buffers = 512MB
max_wal_size = 4GB
checkpoint_timeout = 10min
autovacuum_naptime = 10s
autovacuum_vacuum_cost_limit = 2000
random_page_cost = 1.1
timezone = 'UTC'
log_min_messages = warning
# Authentication is "trust": the socket is for the account that runs the server (and root) alone.
unix_socket_permissions = 0700
"""
INCLUDE = "include_if_exists = 'tweetwatch.conf'"


def write_settings(data: Path) -> None:
    """Bring both files up to date; nothing is written when they are."""
    _write(data / "tweetwatch.conf", SETTINGS, data=data)
    main = data / "postgresql.conf"
    text = main.read_text()
    if INCLUDE not in text.splitlines():
        _write(main, f"{text.rstrip()}\n\n{INCLUDE}\n", data=data)


def _write(path: Path, text: str, *, data: Path) -> None:
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.chmod(0o600)
    # As root the server runs as another user, the owner of its data directory.
    if os.geteuid() == 0:
        owner = data.stat()
        os.chown(fresh, owner.st_uid, owner.st_gid)
    fresh.replace(path)
