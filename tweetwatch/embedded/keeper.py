"""The keeper: one detached process per directory that owns the server's life.

start ─> every 0.3 s: all users gone? ─ yes ─> stop the server, exit
                      postmaster dead? ─ yes ─> restart it
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import FrameType

import psutil  # type: ignore[import-untyped]

from tweetwatch.embedded import server
from tweetwatch.embedded.account import act_as
from tweetwatch.embedded.locks import is_open_on, open_lock, try_exclusive
from tweetwatch.embedded.place import Place, last_lines
from tweetwatch.embedded.postmaster import is_alive, live_postmaster, socket_directory
from tweetwatch.embedded.resources import full_disk_sentence
from tweetwatch.embedded.versions import OtherVersionError

logger = logging.getLogger(__name__)

_TICK = 0.3
_LOGS_EVERY = 3.0
# In bytes: the contents of a log that grew larger move to a file with `.1`.
MAX_LOG_SIZE = 10_000_000
_MAX_PAUSE = 5.0


def keep_server(place: Place) -> None:
    """Keep the server of `place`; returns at once if another keeper does.

    The keeper is a fork that holds the lock; in the parent this returns. So once the parent has
    ended, its caller knows that there is a keeper.
    """
    keeper_fd = open_lock(place.keeper_lock)
    if not _take(keeper_fd) or os.fork() != 0:
        return
    # The pid is only for `status`, and a full disk may have no room for it.
    with contextlib.suppress(OSError):
        os.ftruncate(keeper_fd, 0)
        os.pwrite(keeper_fd, f"{os.getpid()}\n".encode(), 0)
    try:
        _Keeper(place, keeper_fd).run()
    except Exception:
        logger.exception("keeper %s failed", os.getpid())
    finally:
        logging.shutdown()
        os._exit(0)


def _take(fd: int) -> bool:
    """Try a few times: a user that checks whether the lock is free holds it for a moment."""
    for _ in range(5):
        if try_exclusive(fd):
            return True
        time.sleep(0.005)
    return False


class _Keeper:
    def __init__(self, place: Place, keeper_fd: int) -> None:
        self.place = place
        self.keeper_fd = keeper_fd
        self.users_fd = open_lock(place.users_lock)
        self.postmaster: psutil.Process | None = None
        self.told_to_stop = False
        self.pause = 0.1
        self.next_try = 0.0
        self.next_look_at_logs = 0.0

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self.tell_to_stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        while not self.is_over():
            if self.postmaster is None or not is_alive(self.postmaster):
                self.start()
            self.keep_logs_small()
            time.sleep(_TICK if self.postmaster else 0.05)
        self.end()

    def tell_to_stop(self, _signal: int, _frame: FrameType | None) -> None:
        self.told_to_stop = True

    def is_over(self) -> bool:
        """Whether it was told to stop, the directory was removed, or all users are gone.

        In the last case it keeps the users' lock, so a new user waits until the server has stopped.
        """
        return (
            self.told_to_stop
            or not is_open_on(self.keeper_fd, self.place.keeper_lock)
            or try_exclusive(self.users_fd)
        )

    def start(self) -> None:
        """Try once; each failure doubles the wait for the next try (orphans may hold memory)."""
        if time.monotonic() < self.next_try:
            return
        died, self.postmaster = self.postmaster, None
        if died is not None:
            logger.warning("postmaster %s died, starting another", died.pid)
        try:
            self.postmaster = server.start_server(self.place)
        except OtherVersionError as error:
            # Another try would change nothing; the next user gets the same error.
            logger.error("%s", error)
            self.told_to_stop = True
            return
        except (OSError, RuntimeError, AssertionError, subprocess.SubprocessError) as error:
            self.report(error)
        if self.postmaster is not None:
            self.pause = 0.1
            logger.info("ready: postmaster %s, keeper %s", self.postmaster.pid, os.getpid())
        else:
            logger.warning("no postmaster yet, next try in %.1f s", self.pause)
            self.next_try = time.monotonic() + self.pause
            self.pause = min(self.pause * 2, _MAX_PAUSE)

    def report(self, error: Exception) -> None:
        logger.error("start failed: %s: %s", type(error).__name__, error)
        if full := full_disk_sentence(self.place.directory):
            logger.error("%s", full)
        # Not the whole log: it has failed statements, with their data.
        for line in last_lines(self.place.server_log, lines=30):
            if any(f" {level}: " in line for level in ("FATAL", "PANIC", "HINT")):
                logger.error("server: %s", line)

    def keep_logs_small(self) -> None:
        if time.monotonic() < self.next_look_at_logs:
            return
        self.next_look_at_logs = time.monotonic() + _LOGS_EVERY
        # A full disk has no room for the copy, but the log does not grow then either.
        with contextlib.suppress(OSError, RuntimeError):
            if _is_too_large(self.place.keeper_log):
                _rotate(self.place.keeper_log)
            if _is_too_large(self.place.server_log):
                account = server.owner_of(self.place.data)
                act_as(account, lambda: _rotate(self.place.server_log))

    def end(self) -> None:
        """Stop; free keeper.lock first: a user that waits for users.lock needs it next."""
        if self.postmaster is None:
            self.postmaster = live_postmaster(self.place.data)
        if self.postmaster is not None:
            socket_dir = socket_directory(self.place.data)
            server.stop_server(self.postmaster)
            server.remove_socket_dir(socket_dir, data=self.place.data)
            logger.info("stopped: postmaster %s, keeper %s", self.postmaster.pid, os.getpid())
        os.close(self.keeper_fd)
        os.close(self.users_fd)


def _is_too_large(log: Path) -> bool:
    try:
        return log.lstat().st_size > MAX_LOG_SIZE
    except FileNotFoundError:
        return False


def _rotate(log: Path) -> None:
    """Copy it, then truncate it: its writers have it open, for appending. Call as its owner."""
    shutil.copyfile(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)
