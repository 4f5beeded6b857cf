"""Fills a database from a backup: all of it, or nothing."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from trackers.backups import counted, keys
from trackers.backups.archive import BackupError, Manifest, Table
from trackers.backups.dump import Listener
from trackers.backups.programs import Programs, find
from trackers.backups.server import Server, major
from tweetwatch.schema import OLD_MIGRATION

_OTHERS = """
    SELECT pid, coalesce(nullif(application_name, ''), 'a program without a name')
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND coalesce(backend_type, 'client backend') = 'client backend'
    ORDER BY pid LIMIT 10
"""
_EXISTING = """
    SELECT count(*), coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""
# A session that is just ending may still be seen.
_ENDS_WITHIN = 5.0
# Only our final COMMIT commits: whatever dies before it, the server rolls back.
_BEGUN = b"SET client_min_messages = warning;\nBEGIN;\n"
_EMPTIED = b"DROP SCHEMA public CASCADE;\nCREATE SCHEMA public;\n"
_DONE = b"\nCOMMIT;\n"
# pg_restore writes it for every server; those older than 17 do not know it.
_SINCE_17 = b"SET transaction_timeout = 0;\n"
_BLOCK = 2**16


def refuse_unfit(manifest: Manifest, *, without_keys: bool) -> None:
    """BackupError if this program or its keys could not use the backup."""
    if ".".join(OLD_MIGRATION) in manifest.migrations:
        raise BackupError(
            "The backup was made before tweetwatch 1.0, which cannot use it: restore it with the "
            "program that made it."
        )
    known = {".".join(one) for one in MigrationLoader(None).disk_migrations}
    # Migrations of applications that were removed since may be unknown.
    newer = [one for one in manifest.migrations if one not in known and _is_ours(one)]
    if newer:
        raise BackupError(
            f"The backup is of tweetwatch {manifest.version}, which is newer: it has the migration "
            f"{newer[-1]}, which is unknown here. Install that version first."
        )
    if (shut := keys.closed(manifest.locks)) and not without_keys:
        raise BackupError(
            f"{'None' if shut == len(manifest.locks) else 'Not all'} of this backup's keys are in "
            "FIELD_KEYS, so its credentials would be lost. Put the FIELD_KEYS that were in use on "
            f"{manifest.made_at:%Y-%m-%d} into .env, and restore again. If they are gone for good, "
            "--without-keys restores everything else."
        )


def _is_ours(migration: str) -> bool:
    return migration.startswith("trackers.")


@dataclass(frozen=True, slots=True)
class Existing:
    """What is in a database; rows are the planner's estimate."""

    tables: int
    rows: int


def existing() -> Existing:
    with Server.of(connection).connect() as ours:
        [(tables, rows)] = ours.execute(_EXISTING).fetchall()
    return Existing(tables, rows)


def load(
    path: Path,
    manifest: Manifest,
    *,
    replace: bool,
    folder: Path | None,
    progress: counted.Progress,
) -> None:
    """Restore into the database that Django uses; if it fails the database is as before.

    Afterwards every table has as many rows as the manifest says, and the planner its statistics.
    """
    server = Server.of(connection)
    connection.close()
    with server.connect() as ours:
        ours.autocommit = True
        version = major(ours)
        if version < manifest.server:
            raise BackupError(
                f"The backup is of PostgreSQL {manifest.server}, and this server is {version}: "
                "restore it into that version or a newer one."
            )
        _refuse_others(ours)
        programs = find(
            max(version, manifest.programs), folder=folder, what="Restoring this backup here"
        )
        progress.begin({name: table.bytes for name, table in manifest.tables.items()})
        _pour(path, server, programs, replace=replace, version=version, progress=progress)
        ours.execute("ANALYZE")
        _compare(manifest, counted.count(ours, counted.sizes(ours)))


def _pour(
    path: Path,
    server: Server,
    programs: Programs,
    *,
    replace: bool,
    version: int,
    progress: counted.Progress,
) -> None:
    """Pipe pg_restore's SQL through us to psql, which executes it in one transaction.

    Owners and privileges are not restored: the account owns everything, as after `migrate`.
    """
    read = programs.command(
        *("pg_restore", "--no-owner", "--no-privileges", "--verbose", "--file=-", str(path))
    )
    write = programs.command(
        *("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"),
        *("--file=-", f"--dbname={server.conninfo}"),
    )
    reading = server.run(read, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writing = server.run(write, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    with Listener(reading, progress) as source, Listener(writing, progress) as sink:
        start = _BEGUN + (_EMPTIED if replace else b"")
        is_read = _copy(reading, writing, start=start, version=version)
        is_written = writing.wait() == 0
        if not is_written and (why := sink.faults()):
            raise BackupError(f"Nothing was restored: {why}")
        if not (is_read and is_written):
            raise BackupError(f"Nothing was restored: {source.faults() or 'psql was killed.'}")


def _copy(
    reading: subprocess.Popen[bytes],
    writing: subprocess.Popen[bytes],
    *,
    start: bytes,
    version: int,
) -> bool:
    """Returns whether all was passed on, and is to be committed."""
    assert reading.stdout is not None
    assert writing.stdin is not None
    try:
        with reading.stdout as source, writing.stdin as sink:
            sink.write(start)
            head = source.read(_BLOCK)
            sink.write(head.replace(_SINCE_17, b"") if version < 17 else head)
            while block := source.read(_BLOCK):
                sink.write(block)
            if reading.wait() != 0:
                return False
            sink.write(_DONE)
    except BrokenPipeError:
        # psql has ended early, and says why.
        return False
    return True


def _refuse_others(ours: psycopg.Connection[Any]) -> None:
    deadline = time.monotonic() + _ENDS_WITHIN
    while others := ours.execute(_OTHERS).fetchall():
        if time.monotonic() > deadline:
            named = ", ".join(f"{name} ({pid})" for pid, name in others)
            raise BackupError(f"The database is in use: {named}. Stop these first.")
        time.sleep(0.2)


def _compare(manifest: Manifest, restored: dict[str, Table]) -> None:
    for name in sorted(manifest.tables.keys() | restored.keys()):
        wanted = manifest.tables[name].rows if name in manifest.tables else 0
        rows = restored[name].rows if name in restored else 0
        if wanted != rows:
            raise BackupError(
                f"{name} has {rows:,} rows, but the backup had {wanted:,}. Do not use this "
                "database. Restore again, and keep both files for a bug report."
            )
