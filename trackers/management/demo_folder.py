"""The folder of a demo: only one that a demo made is emptied, and only of what demos make."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from pathlib import Path

from django.core.management.base import CommandError

from tweetwatch.embedded.place import Place
from tweetwatch.embedded.postmaster import live_postmaster

# A folder with this file is a demo's; it is also the lock of the running demo.
MARKER = ".tweetwatch-demo"
POSTGRES, _LOGS = "postgres", "log"


def lock_folder(directory: Path) -> int:
    """The folder's lock, held until the descriptor is closed; creates the folder if needed.

    CommandError if another demo runs there, or if it holds anything that no demo made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _refuse_foreign_folder(directory)
        marker = os.open(directory / MARKER, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise CommandError(f"{directory} cannot be used: {error.strerror}.") from None
    try:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(marker)
        raise CommandError(
            f"Another demo is running in {directory}; stop it, or give another --directory."
        ) from None
    return marker


def _refuse_foreign_folder(directory: Path) -> None:
    names = {entry.name for entry in os.scandir(directory)}
    if names and not _is_marker(directory / MARKER):
        raise CommandError(
            f"{directory} is not empty, and no demo made it (it has no {MARKER}), so nothing in it "
            "was touched. Give another --directory; or, if an older demo left it, remove it "
            "yourself."
        )
    if others := sorted(names - {MARKER, POSTGRES, _LOGS}):
        raise CommandError(
            f"{directory} contains files that no demo made ({', '.join(others[:3])}), "
            "so nothing was touched. Move it away, or give another --directory."
        )


def _is_marker(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False


def empty_folder(directory: Path) -> Path:
    """Remove what the last demo left in a claimed folder; returns where this one's logs go.

    The marker stays, so that even if the demo is killed the folder still counts as a demo's.
    """
    data = Place.at(directory / POSTGRES).data
    deadline = time.monotonic() + 20
    # If the last run was killed, its server takes a moment to end.
    while live_postmaster(data) is not None:
        if time.monotonic() > deadline:
            raise CommandError(f"A PostgreSQL is still running in {directory}; stop it first.")
        time.sleep(0.1)
    for name in (POSTGRES, _LOGS):
        _remove_path(directory / name)
    logs = directory / _LOGS
    logs.mkdir()
    return logs


def _remove_path(path: Path) -> None:
    """Removes a link, never its target; `rmtree` does the same further down."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        raise CommandError(f"{path} could not be removed; remove it yourself.")
