"""Describes for people what runs under a directory."""

from __future__ import annotations

import os
from pathlib import Path

from tweetwatch.embedded.locks import is_free
from tweetwatch.embedded.place import Place
from tweetwatch.embedded.postmaster import live_postmaster


def describe(place: Place) -> tuple[bool, str]:
    """Whether the server runs, and a sentence about it, its keeper and its users."""
    postmaster = live_postmaster(place.data)
    keeper = keeper_pid(place)
    known = [pid for pid in _holders(place.users_lock) if pid != keeper]
    server = f"running, postmaster {postmaster.pid}" if postmaster else "not running"
    kept = f"keeper {keeper}" if keeper else "no keeper"
    users = " ".join(map(str, known)) or "none"
    return postmaster is not None, f"{place.directory}: {server}; {kept}; users: {users}"


def keeper_pid(place: Place) -> int | None:
    if not place.keeper_lock.exists() or is_free(place.keeper_lock):
        return None
    text = place.keeper_lock.read_text().strip()
    return int(text) if text.isdigit() else None


def _holders(path: Path) -> list[int]:
    """Pids that have `path` open, as far as we may see. (Forks inherit locks, but /proc/locks only
    names the process that took one.)"""
    if not path.exists():
        return []
    wanted = path.stat()
    pids = sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    return [pid for pid in pids if _has_open(pid, wanted)]


def _has_open(pid: int, wanted: os.stat_result) -> bool:
    try:
        with os.scandir(f"/proc/{pid}/fd") as entries:
            return any(_is_same(entry.path, wanted) for entry in entries)
    except OSError:
        return False


def _is_same(path: str, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), wanted)
    except OSError:
        return False
