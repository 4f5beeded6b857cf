"""Where the database is, in libpq's terms; the password is passed only in the environment."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import connection as django_connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import pq
from psycopg.conninfo import make_conninfo

from trackers.jobs.processes.mortality import die_with

# `options` has our own timeouts, which would end a long dump.
_OURS = {"password", "options", "application_name"}
_NAME = "tweetwatch backup"
_SCHEMA_OF_TABLES = """
    SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass('trackers_tweet')
"""
_PATIENT = "-c idle_in_transaction_session_timeout=0 -c statement_timeout=0"


@dataclass(frozen=True, slots=True)
class Server:
    """A database, and how the client programs reach it."""

    conninfo: str
    password: str = field(repr=False)

    @classmethod
    def of(cls, connection: BaseDatabaseWrapper) -> Server:
        settings: Mapping[str, Any] = connection.get_connection_params()
        known = {one.keyword.decode() for one in pq.Conninfo.get_defaults()} - _OURS
        words = {name: value for name, value in settings.items() if name in known and value}
        return cls(make_conninfo(**words), str(settings.get("password") or ""))

    def beside(self, database: str) -> Server:
        """Another database of the same server."""
        return Server(make_conninfo(self.conninfo, dbname=database), self.password)

    def connect(self) -> psycopg.Connection[Any]:
        words = {"application_name": _NAME, "options": _PATIENT}
        if self.password:
            words["password"] = self.password
        return psycopg.connect(make_conninfo(self.conninfo, **words))

    def run(self, command: list[str], **how: Any) -> subprocess.Popen[bytes]:
        """Start a client program that ends with this process, even on SIGKILL."""
        me = os.getpid()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        secret = {"PGPASSWORD": self.password} if self.password else {}
        return subprocess.Popen(  # noqa: S603 - PostgreSQL's own programs
            command,
            env={**kept, **secret, "LC_ALL": "C.UTF-8", "PGAPPNAME": _NAME},
            preexec_fn=lambda: die_with(me),
            **how,
        )


def major(connection: psycopg.Connection[Any]) -> int:
    return connection.info.server_version // 10_000


def is_standby(connection: psycopg.Connection[Any]) -> bool:
    [(answer,)] = connection.execute("SELECT pg_is_in_recovery()").fetchall()
    return bool(answer)


def schema_of_tables() -> str | None:
    """The schema in which Django finds our tables; None: nowhere."""
    return _ask(_SCHEMA_OF_TABLES)


def schema_of_new_tables() -> str | None:
    """The schema in which `migrate` makes tables; None: those of the search path do not exist."""
    return _ask("SELECT current_schema()")


def _ask(query: str) -> str | None:
    with django_connection.cursor() as db:
        db.execute(query)
        row = db.fetchone()
    return None if row is None or row[0] is None else str(row[0])
