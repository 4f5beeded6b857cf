"""Where the server's socket is: with the data, or in a short folder if that path is too long."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from tweetwatch.embedded.account import Account

_SOCKET = ".s.PGSQL.5432"
# The longest socket path that Linux accepts.
_MAX_SOCKET_PATH = 107


def prepare_socket_folder(data: Path, *, under: Path, account: Account | None) -> Path:
    """The data directory, or a folder under `under` that only the server's account can open.

    Anybody can create files in the temporary directory, so PermissionError if the folder turns out
    to be a link or somebody else's.
    """
    if len(os.fsencode(data / _SOCKET)) <= _MAX_SOCKET_PATH:
        return data
    # The same name each time, as users keep the address; a copy of the data gets another.
    name = hashlib.sha256(f"{data}-{data.stat().st_ino}".encode()).hexdigest()[:10]
    folder = under / name
    under.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError:
        raise PermissionError(
            f"{folder}, where the socket belongs, is not a folder: remove it"
        ) from None
    try:
        _give(fd, folder, account)
    finally:
        os.close(fd)
    return folder


def _give(fd: int, folder: Path, account: Account | None) -> None:
    owner = account.uid if account else os.geteuid()
    if os.fstat(fd).st_uid not in {owner, os.geteuid()}:
        raise PermissionError(f"{folder}, where the socket belongs, is another user's: remove it")
    if account:
        os.fchown(fd, account.uid, account.gid)
    os.fchmod(fd, 0o700)
