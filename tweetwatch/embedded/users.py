"""The user's side: count this process as a user, make sure of a keeper, wait for the server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from tweetwatch.embedded.locks import is_free, is_open_on, open_lock, try_shared
from tweetwatch.embedded.place import DATABASE, SUPERUSER, Place, last_lines
from tweetwatch.embedded.postmaster import socket_directory

# What the keeper and the server get of our environment: no secrets, and no PG* that would
# move the port or the data.
KEPT_VARIABLES = (
    *("PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH"),
    *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PGSERVER_POSTGRES_VERSION"),
)

# Descriptors of users.lock held for the life of this process; a forked child inherits both.
_held: dict[Place, int] = {}


class EmbeddedPostgresError(RuntimeError):
    """The embedded PostgreSQL can't be used; the message says what, where and what to do."""


def database_url(directory: Path, *, within: float = 60.0) -> str:
    """Make sure the PostgreSQL under `directory` runs; return the URL of its database.

    This process (and those it forks) counts as a user until it ends. The URL names the unix
    socket: `postgres://postgres:@/tweetwatch?host=/socket/dir`. It was tried with a connection.
    Raises EmbeddedPostgresError, at the latest after `within` seconds.
    """
    place = Place.at(directory)
    deadline = time.monotonic() + within
    if "," in str(place.directory):
        raise _failure(place, "can't be reached: libpq takes a comma in a path for two hosts")
    try:
        place.directory.mkdir(parents=True, exist_ok=True)
        _count_as_user(place, deadline=deadline)
        return _wait_for_server(place, deadline=deadline)
    except TimeoutError as error:
        raise _failure(place, f"did not answer within {within:g} s") from error
    except OSError as error:
        raise _failure(place, f"can't be used ({error.strerror}: {error.filename})") from error


def _count_as_user(place: Place, *, deadline: float) -> None:
    """Hold users.lock, shared. Blocks while a keeper, holding it exclusively, stops the server."""
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
    """Every round looks for the keeper again: the one seen before may have been ending."""
    while time.monotonic() < deadline:
        if is_free(place.keeper_lock):
            _spawn_keeper(place)
        url = _working_url(place)
        if url is not None:
            return url
        time.sleep(0.03)
    raise TimeoutError


def _spawn_keeper(place: Place) -> None:
    """Start a keeper and wait until it detached itself (or found another one there)."""
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
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    project = str(Path(__file__).resolve().parents[2])
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, (project, kept.get("PYTHONPATH"))))
    # initdb takes the collation from here: the same one whoever comes first.
    kept["LC_ALL"] = "C.UTF-8"
    return kept


def _working_url(place: Place) -> str | None:
    """The URL once a connection works and the database is there, else None."""
    socket_dir = socket_directory(place.data)
    if socket_dir is None:
        return None
    try:
        with _connect(socket_dir, SUPERUSER) as connection:
            _create_database(connection)
        with _connect(socket_dir, DATABASE) as connection:
            connection.execute("SELECT 1")
    except psycopg.Error:
        return None
    return f"postgres://{SUPERUSER}:@/{DATABASE}?host={quote(str(socket_dir))}"


def _connect(socket_dir: Path, database: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        host=str(socket_dir),
        port=5432,
        user=SUPERUSER,
        dbname=database,
        connect_timeout=5,
        autocommit=True,
    )


def _create_database(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Two users may both find it missing: the slower gets an error and comes back."""
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
    if found.fetchone() is None:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _failure(place: Place, what: str) -> EmbeddedPostgresError:
    lines = [
        f"The embedded PostgreSQL under {place.directory} {what}: read {place.keeper_log} and "
        f"{place.server_log}, or set DATABASE_URL to a PostgreSQL 15 or newer.",
        *last_lines(place.keeper_log, lines=10),
    ]
    return EmbeddedPostgresError("\n".join(lines))
