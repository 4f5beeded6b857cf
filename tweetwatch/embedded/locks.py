"""Whole-file locks (flock): forked children inherit them, and they end with the last holder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


def open_lock(path: Path) -> int:
    """A descriptor, closed on exec. 0600: anybody who can open the file can hold its lock."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_shared(fd: int) -> bool:
    return _try(fd, fcntl.LOCK_SH)


def try_exclusive(fd: int) -> bool:
    return _try(fd, fcntl.LOCK_EX)


def _try(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_free(path: Path) -> bool:
    """Whether nobody holds the lock exclusively at this moment."""
    fd = open_lock(path)
    try:
        free = try_shared(fd)
        # Unlock, not only close: a thread may fork here, and the child's copy would keep the lock.
        fcntl.flock(fd, fcntl.LOCK_UN)
        return free
    finally:
        os.close(fd)


def is_open_on(fd: int, path: Path) -> bool:
    """Whether `fd` is still this file: it may be closed, or the directory replaced."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except OSError:
        return False
