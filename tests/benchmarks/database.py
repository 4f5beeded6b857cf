"""Databases of the benches' own, on the server that the settings name; dropped at the end.

One is migrated and kept as the template; every bench gets a clone of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psutil
import psycopg
from django.db import connection
from psycopg import sql

PROJECT = Path(__file__).resolve().parents[2]
OURS = f"bench_tweetwatch_{os.getpid()}"
LEFTOVERS = "SELECT datname FROM pg_database WHERE datname ~ '^bench_tweetwatch_[0-9]+_'"
CREDENTIAL = '{"bearer_token": "a-token-of-the-bench"}'
MAKE_PARTITIONS = "from trackers.tasks import make_partitions; make_partitions()"


def url_of(database: str) -> str:
    """Where a database of the settings' server is, as DATABASE_URL says it."""
    params = connection.get_connection_params()
    who, secret = quote(params.get("user", ""), safe=""), quote(params.get("password", ""), safe="")
    who = f"{who}:{secret}" if secret else who
    host = params.get("host", "")
    if host.startswith("/") or not host:
        return f"postgres://{who}@/{database}?{urlencode({'host': host})}"
    return f"postgres://{who}@{host}:{params.get('port') or 5432}/{database}"


def administer(statement: str, *names: str) -> None:
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def drop(name: str) -> None:
    administer("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def drop_leftovers() -> None:
    """The databases of benches that were killed."""
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        names = [name for (name,) in admin.execute(LEFTOVERS).fetchall()]
    for name in names:
        if not psutil.pid_exists(int(name.split("_")[2])):
            with suppress(psycopg.Error):
                drop(name)


@dataclass(frozen=True)
class Database:
    name: str
    # Of every process that is started on it.
    extra: tuple[tuple[str, str], ...] = ()

    @cached_property
    def url(self) -> str:
        return url_of(self.name)

    @property
    def environment(self) -> dict[str, str]:
        elsewhere = filter(None, [os.environ.get("PYTHONPATH")])
        return {
            **os.environ,
            # What it is compared with may be installed elsewhere.
            "PYTHONPATH": os.pathsep.join([str(PROJECT), *elsewhere]),
            "LOG_LEVEL": "INFO",
            **dict(self.extra),
            "DATABASE_URL": self.url,
        }

    def connect(self, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.url, autocommit=True, **options)

    def sql(self, query: str, values: Any = None) -> list[tuple[Any, ...]]:
        with self.connect() as db:
            made = db.execute(query, values)
            return made.fetchall() if made.description else []

    def value(self, query: str, values: Any = None) -> Any:
        return self.sql(query, values)[0][0]

    def manage(self, *arguments: str, stdin: str = "", **environment: str) -> str:
        """Run a command to its end; its output. RuntimeError with its complaint when it fails."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environment | environment,
            input=stdin,
            text=True,
            capture_output=True,
        )
        if done.returncode:
            raise RuntimeError(f"manage.py {arguments[0]} failed:\n{done.stderr.strip()}")
        return done.stdout


class Databases:
    """Makes them; `close` drops all that were made."""

    def __init__(self) -> None:
        self._made: list[str] = []
        self._numbers = count(1)
        drop_leftovers()

    @cached_property
    def template(self) -> Database:
        """As after migration, with the partitions of the next days and a credential."""
        made = self._create("template")
        made.manage("migrate", "--verbosity=0")
        made.manage("shell", "--verbosity=0", "-c", MAKE_PARTITIONS)
        made.manage("credential", "add", "bench", "--kind", "bearer", stdin=CREDENTIAL)
        return made

    @contextmanager
    def fresh(self, *, keep_as: str = "") -> Iterator[Database]:
        """A database as after migration. `keep_as`: under this name it stays, for another run."""
        name = keep_as or f"{OURS}_{next(self._numbers)}"
        template = self.template.name
        if keep_as:
            drop(keep_as)
        else:
            self._made.append(name)
        administer("CREATE DATABASE {} TEMPLATE {}", name, template)
        yield Database(name)
        if not keep_as:
            drop(name)

    def kept(self, name: str) -> Database | None:
        """The one that an earlier run kept, if there is one."""
        with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
            found = admin.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone()
        return None if found is None else Database(name)

    @contextmanager
    def empty(self, **environment: str) -> Iterator[Database]:
        made = self._create(str(next(self._numbers)), **environment)
        yield made
        drop(made.name)

    def settle(self) -> None:
        """Have the server write out what is dirty, where the account may ask for that."""
        with suppress(psycopg.errors.InsufficientPrivilege):
            administer("CHECKPOINT")

    def _create(self, purpose: str, **environment: str) -> Database:
        name = f"{OURS}_{purpose}"
        self._made.append(name)
        administer("CREATE DATABASE {}", name)
        return Database(name, tuple(environment.items()))

    def close(self) -> None:
        for name in self._made:
            drop(name)
