"""The user's side: register this process as a user, ensure a keeper, wait for the server."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from tweetwatch.embedded.locks import is_free, is_open_on, open_lock, try_shared
from tweetwatch.embedded.place import DATABASE, ROLE, SUPERUSER, Place, last_lines
from tweetwatch.embedded.postmaster import is_recovering, socket_directory
from tweetwatch.embedded.resources import full_disk_sentence
from tweetwatch.embedded.versions import OtherVersionError, refuse_another_version

logger = logging.getLogger(__name__)

# Seconds of a recovery until it is logged, and between two log lines after that.
_SILENT_FOR = 5.0
_WORD_EVERY = 15.0
# What the keeper and the server get from our environment: no secrets, and no PG* variables, which
# could change the port or the data.
_KEPT_VARIABLES = (
    *("PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH"),
    *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PGSERVER_POSTGRES_VERSION"),
)

# Not a superuser, so that its statements reach no file and no program. It may create databases
# (tests, `bench`), see everybody's statistics (the oldest snapshot may be another role's), request
# a checkpoint (`bench`), and end sessions of other roles except superusers: autovacuum may be at
# work in a database to be dropped.
_CREATE_ROLE = f"""
    CREATE ROLE {ROLE} LOGIN CREATEDB IN ROLE pg_read_all_stats, pg_checkpoint, pg_signal_backend
"""
_ROLE_EXISTS = "SELECT FROM pg_roles WHERE rolname = %s"
_CREATE_DATABASE = f"CREATE DATABASE {DATABASE} OWNER {ROLE}"
_DATABASE_EXISTS = "SELECT FROM pg_database WHERE datname = %s"

# Descriptors of users.lock held for the life of this process; a forked child inherits both.
_held: dict[Place, int] = {}


class EmbeddedPostgresError(RuntimeError):
    """The embedded PostgreSQL can't be used; the message says what, where and what to do."""


def database_url(directory: Path, *, within: float = 60.0) -> str:
    """Make sure the PostgreSQL under `directory` runs; return the URL of its database.

    This process (and its forks) counts as a user until it ends. The URL names the unix socket:
    `postgres://tweetwatch:@/tweetwatch?host=/socket/dir`. It was tested with a connection.
    Raises EmbeddedPostgresError, at the latest after `within` seconds, not counting those in which
    the server recovers from a crash.
    """
    place = Place.at(directory)
    deadline = time.monotonic() + within
    if "," in str(place.directory):
        raise _failure(place, "can't be reached: libpq takes a comma in a path for two hosts")
    try:
        place.directory.mkdir(parents=True, exist_ok=True)
        _count_as_user(place, deadline=deadline)
        return _wait_for_server(place, deadline=deadline)
    except OtherVersionError as error:
        raise EmbeddedPostgresError(str(error)) from None
    except TimeoutError as error:
        raise _failure(place, f"did not answer within {within:g} s") from error
    except OSError as error:
        raise _failure(place, f"can't be used ({error.strerror}: {error.filename})") from error


def _count_as_user(place: Place, *, deadline: float) -> None:
    """Take users.lock, shared. Blocks while a keeper holds it exclusively to stop the server."""
    fd = _held.get(place)
    if fd is not None and is_open_on(fd, place.users_lock):
        return
    fd = open_lock(place.users_lock)
    while not try_shared(fd):
        if time.monotonic() > deadline:
            os.close(fd)
            raise TimeoutError
        time.sleep(0.02)
    _held[place] = fd


def _wait_for_server(place: Place, *, deadline: float) -> str:
    """Each round checks for the keeper again: the one seen before may have been ending.

    While the server recovers from a crash the deadline stands still; it waits as long as that takes
    and logs it now and then.
    """
    waited = Recovery(place)
    while time.monotonic() < deadline + waited.seconds:
        if is_free(place.keeper_lock):
            _spawn_keeper(place)
        url = _working_url(place)
        if url is not None:
            return url
        time.sleep(0.03)
        waited.look()
    raise TimeoutError


class Recovery:
    """Measures how long a server has been recovering, and logs it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.seconds = 0.0
        self._looked_at = time.monotonic()
        self._next_word = _SILENT_FOR

    def look(self) -> None:
        before, self._looked_at = self._looked_at, time.monotonic()
        if not is_recovering(self.place.data):
            return
        self.seconds += self._looked_at - before
        if self.seconds >= self._next_word:
            self._next_word += _WORD_EVERY
            logger.warning(
                "The PostgreSQL in %s is recovering from a crash; nobody can connect until it is "
                "done (%.0f s so far).",
                self.place.directory,
                self.seconds,
            )


def _spawn_keeper(place: Place) -> None:
    """Start a keeper and wait until it has detached itself (or found another one)."""
    refuse_another_version(place)
    command = [
        sys.executable,
        "-P",
        "-W",
        "ignore",
        "-m",
        "tweetwatch.embedded",
        "keep",
        str(place.directory),
    ]
    with place.keeper_log.open("ab") as log:
        place.keeper_log.chmod(0o600)
        ended = subprocess.run(  # noqa: S603
            command,
            check=False,
            cwd="/",
            env=_keeper_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    if ended.returncode != 0:
        raise _failure(place, f"has no keeper (it ended with {ended.returncode})")


def _keeper_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    project = str(Path(__file__).resolve().parents[2])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (project, kept.get("PYTHONPATH"))))
    # initdb takes the collation from here: it must not depend on who starts the keeper.
    kept["LC_ALL"] = "C.UTF-8"
    return kept


def _working_url(place: Place) -> str | None:
    """The URL once the application's role reaches its database, else None: try again."""
    socket_dir = _own_socket_directory(place)
    if socket_dir is None:
        return None
    try:
        _connect(socket_dir, ROLE, DATABASE).close()
    except psycopg.OperationalError:
        # It fails if another process is a moment faster.
        with contextlib.suppress(psycopg.Error):
            _create_database(socket_dir)
        return None
    return f"postgres://{ROLE}:@/{DATABASE}?host={quote(str(socket_dir))}"


def _create_database(socket_dir: Path) -> None:
    with _connect(socket_dir, SUPERUSER, "postgres") as admin:
        if admin.execute(_ROLE_EXISTS, [ROLE]).fetchone() is None:
            admin.execute(_CREATE_ROLE)
        if admin.execute(_DATABASE_EXISTS, [DATABASE]).fetchone() is None:
            admin.execute(_CREATE_DATABASE)


def _own_socket_directory(place: Place) -> Path | None:
    """The socket directory from the server's pid file, if the owner of the data owns it too."""
    socket_dir = socket_directory(place.data)
    try:
        if socket_dir and socket_dir.lstat().st_uid == place.data.stat().st_uid:
            return socket_dir
    except FileNotFoundError:
        pass
    return None


def _connect(socket_dir: Path, user: str, database: str) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host=str(socket_dir),
        port=5432,
        user=user,
        dbname=database,
        connect_timeout=5,
        autocommit=True,
    )


def _failure(place: Place, what: str) -> EmbeddedPostgresError:
    lines = [
        f"The embedded PostgreSQL under {place.directory} {what}: read {place.keeper_log} and "
        f"{place.server_log}, or set DATABASE_URL to a PostgreSQL 15 or newer.",
        *last_lines(place.keeper_log, lines=10),
        *filter(None, [full_disk_sentence(place.directory)]),
    ]
    return EmbeddedPostgresError("\n".join(lines))
