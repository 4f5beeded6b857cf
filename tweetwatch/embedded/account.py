"""The account that the server runs under, and how to act as it.

If we are root, the server has an account of its own, which owns its folder: anybody who can make
the server run a program can put links there. So root never writes in that folder, and reads no link
or pipe in it.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypedDict

_MAX_READ = 1 << 20


class Identity(TypedDict, total=False):
    """The arguments of `subprocess` that run a program as an account."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int

    @classmethod
    def named(cls, name: str) -> Account:
        entry = pwd.getpwnam(name)
        return cls(entry.pw_uid, entry.pw_gid)

    @property
    def identity(self) -> Identity:
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def become(self) -> None:
        """Become this account; there is no way back."""
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)


def identity(account: Account | None) -> Identity:
    return account.identity if account else {}


def act_as(account: Account | None, act: Callable[[], object]) -> None:
    """Call `act` in a child process that has become this account; without one, here.

    RuntimeError with the child's error if it failed. Not for a process with threads.
    """
    if account is None:
        act()
        return
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _act_and_exit(account, act, error_pipe=writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        error = pipe.read().decode(errors="replace")
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError(error or f"a child of user {account.uid} was killed")


def _act_and_exit(account: Account, act: Callable[[], object], *, error_pipe: int) -> NoReturn:
    status = 1
    try:
        account.become()
        act()
        status = 0
    except Exception as error:
        os.write(error_pipe, f"{type(error).__name__}: {error}".encode()[:1000])
    finally:
        os._exit(status)


def read_own(path: Path, *, last: int = _MAX_READ) -> str:
    """The last bytes of a regular file, as text; OSError for a link, a pipe or a device."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        file_stat = os.fstat(fd)
        if not stat.S_ISREG(file_stat.st_mode):
            raise OSError(errno.ELOOP, "is not a regular file", str(path))
        file.seek(max(0, file_stat.st_size - last))
        return file.read(last).decode(errors="replace")
