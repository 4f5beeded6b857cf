"""Finds the postmaster of a data directory, and cleans up what a dead one left behind.

PostgreSQL and psutil both call a zombie or a reused pid "running"; here neither counts as running.
"""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from tweetwatch.embedded.account import read_own

_SOCKET = ".s.PGSQL.5432"
_SOCKET_LOCK = f"{_SOCKET}.lock"
_ENDED = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def live_postmaster(data: Path) -> psutil.Process | None:
    """The running postmaster named by `postmaster.pid`, else None."""
    pid = _named_pid(data / "postmaster.pid")
    return None if pid is None else _postgres_of(pid, data)


def socket_directory(data: Path) -> Path | None:
    """Where the server listens, from line 5 of `postmaster.pid`; None until it is written."""
    try:
        lines = read_own(data / "postmaster.pid").splitlines()
    except OSError:
        return None
    return Path(lines[4]) if len(lines) > 4 and lines[4] else None


def is_recovering(data: Path) -> bool:
    """Whether a live server still accepts no connections, by line 8 of `postmaster.pid`."""
    try:
        lines = read_own(data / "postmaster.pid").splitlines()
    except OSError:
        return False
    return len(lines) > 7 and lines[7].strip() == "starting" and live_postmaster(data) is not None


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() not in _ENDED
    except psutil.NoSuchProcess:
        return False


def wait_until_ended(processes: list[psutil.Process], *, seconds: float) -> bool:
    """Poll, as the processes are not our children; a zombie has ended."""
    deadline = time.monotonic() + seconds
    while any(is_alive(process) for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def remove_stale_files(data: Path, *, socket_dir: Path) -> None:
    """Remove pid files that do not name a running server of `data`.

    RuntimeError: a server listens there whose process cannot be seen from here. Containers that
    share a folder do not see each other's processes, and two servers on the same data destroy it.
    """
    if any(_has_listener(folder) for folder in {data, socket_dir}):
        raise RuntimeError(
            f"a PostgreSQL of {data} already runs where its process cannot be seen from here, such "
            "as in another container; stop that one first"
        )
    for path in (data / "postmaster.pid", data / _SOCKET_LOCK, socket_dir / _SOCKET_LOCK):
        pid = _named_pid(path)
        if pid is not None and _postgres_of(pid, data) is None:
            path.unlink(missing_ok=True)


def _has_listener(folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        try:
            client.connect(str(folder / _SOCKET))
        except BlockingIOError:  # It listens; its queue of connections is full.
            return True
        except OSError:
            return False
    return True


def end_orphans(data: Path) -> None:
    """End backends that outlived their postmaster: a busy one keeps the shared memory for hours.

    Call only when no postmaster of `data` lives.
    """
    orphans = [
        process
        for process in psutil.process_iter()
        if _postgres_of(process.pid, data, sure=True) is not None
    ]
    for sign in (signal.SIGQUIT, signal.SIGKILL):
        for process in orphans:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(sign)
        if wait_until_ended(orphans, seconds=0.5):
            return


def _named_pid(path: Path) -> int | None:
    """The pid on the first line; 0 (nobody) for a file cut short, None without a file."""
    try:
        first = read_own(path).partition("\n")[0]
    except FileNotFoundError:
        return None
    except OSError as error:
        # A link or a socket, which no server creates there.
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            return 0
        raise
    # A single-user server writes its pid negated.
    return abs(int(first)) if first.strip().lstrip("-").isdigit() else 0


def _postgres_of(pid: int, data: Path, *, sure: bool = False) -> psutil.Process | None:
    """The live process `pid` if it is a PostgreSQL of `data`, which is its working directory."""
    if pid == 0:
        return None
    try:
        process = psutil.Process(pid)
        if process.name() != "postgres" or not is_alive(process):
            return None
        # Whatever the pid file says: a process of another account is never signalled.
        if process.uids().real != data.stat().st_uid:
            return None
        ours = _works_in(process, data, sure=sure)
    except psutil.NoSuchProcess:
        return None
    return process if ours else None


def _works_in(process: psutil.Process, data: Path, *, sure: bool) -> bool:
    try:
        return bool(process.cwd() == str(data))
    except psutil.AccessDenied:
        # Root in a container without SYS_PTRACE may only read the command line.
        return not sure and str(data) in process.cmdline()
