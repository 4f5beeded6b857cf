"""Fills a database from a backup, all of it or nothing; or only checks that it could."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from trackers.backups import keys
from trackers.backups.contents import Progress, count, read_contents
from trackers.backups.dump import Listener
from trackers.backups.file import BackupError, Manifest, Table
from trackers.backups.programs import Programs, find
from trackers.backups.server import Server, major, schema_of_new_tables, schema_of_tables
from tweetwatch.schema import OLD_MIGRATION

_OTHERS = """
    SELECT pid, coalesce(nullif(application_name, ''), 'a program without a name')
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND coalesce(backend_type, 'client backend') = 'client backend'
    ORDER BY pid LIMIT 10
"""
_ROWS = """
    SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint
    FROM pg_class WHERE oid = ANY (%s::regclass[]) AND relkind = 'r'
"""
# Its name says whose it is, and a check that was killed leaves one of the same name to the next.
_SCRATCH = """
    SELECT 'restore_check_' || md5(current_database()),
        pg_try_advisory_lock(hashtextextended('tweetwatch restore --check', 0))
"""
_DROP_SCRATCH = "DROP DATABASE IF EXISTS {} WITH (FORCE)"
# Any text and any collation can be restored into it, whatever the server's own locale is.
_CREATE_SCRATCH = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
# A session that is just ending may still be seen.
_ENDS_WITHIN = 5.0
# Only our final COMMIT commits: whatever dies before it, the server rolls back.
_BEGUN = b"SET client_min_messages = warning;\nBEGIN;\n"
_HAS_SCHEMA = "SELECT FROM pg_namespace WHERE nspname = %s"
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
    """The program's own tables in a database; rows are the planner's estimate."""

    tables: int
    rows: int


def existing() -> Existing:
    if (schema := schema_of_tables() or schema_of_new_tables()) is None:
        return Existing(0, 0)
    with Server.of(connection).connect() as ours:
        contents = read_contents(ours, schema)
        [(rows,)] = ours.execute(_ROWS, [contents.tables]).fetchall()
    return Existing(len(contents.sizes), rows)


def load(
    path: Path,
    manifest: Manifest,
    *,
    replace: bool,
    folder: Path | None,
    progress: Progress,
) -> None:
    """Restore into the database that Django uses; if it fails the database is as before.

    Afterwards every table has as many rows as the manifest says, and the planner its statistics.
    """
    server = Server.of(connection)
    schema = schema_of_new_tables()
    connection.close()
    if schema not in {None, manifest.schema}:
        raise BackupError(
            f"The backup's tables are in the schema {manifest.schema}, and this account's would be "
            f"in {schema}. Add ?options=-c%20search_path%3D{manifest.schema} to DATABASE_URL."
        )
    with server.connect() as ours:
        ours.autocommit = True
        _refuse_others(ours)
        _fill(ours, server, path, manifest, replace=replace, folder=folder, progress=progress)


def check(path: Path, manifest: Manifest, *, folder: Path | None, progress: Progress) -> str | None:
    """Restore into a scratch database, which is removed again.

    Where none can be made, only let pg_restore read all of it, and return why. BackupError: it
    cannot be restored.
    """
    server = Server.of(connection)
    connection.close()
    with contextlib.ExitStack() as stack:
        try:
            scratch = stack.enter_context(_scratch_database(server))
            ours = stack.enter_context(scratch.connect())
        except psycopg.Error as error:
            why = " ".join(str(error).split())
        else:
            ours.autocommit = True
            _fill(ours, scratch, path, manifest, replace=False, folder=folder, progress=progress)
            return None
    programs = find(manifest.programs, folder=folder, what="Reading this backup")
    progress.begin({})
    with (
        _reading(path, server, programs, manifest, stdout=subprocess.DEVNULL) as reading,
        Listener(reading, progress) as heard,
    ):
        reading.wait()
    # An entry that it does not find it only warns of.
    if (why_not := heard.faults()) or reading.returncode:
        raise BackupError(f"pg_restore cannot read it: {why_not or reading.returncode}")
    return why


@contextlib.contextmanager
def _scratch_database(server: Server) -> Iterator[Server]:
    """psycopg.Error: it cannot be made. BackupError: another check is at work."""
    with server.connect() as ours:
        ours.autocommit = True
        [(name, is_alone)] = ours.execute(_SCRATCH).fetchall()
        if not is_alone:
            raise BackupError("Another check is restoring a backup here. Wait until it has ended.")
        drop = sql.SQL(_DROP_SCRATCH).format(sql.Identifier(name))
        ours.execute(drop)
        ours.execute(sql.SQL(_CREATE_SCRATCH).format(sql.Identifier(name)))
        try:
            yield server.beside(name)
        finally:
            ours.execute(drop)


def _fill(
    ours: psycopg.Connection[Any],
    server: Server,
    path: Path,
    manifest: Manifest,
    *,
    replace: bool,
    folder: Path | None,
    progress: Progress,
) -> None:
    version = major(ours)
    if version < manifest.server:
        raise BackupError(
            f"The backup is of PostgreSQL {manifest.server}, and this server is {version}: "
            "restore it into that version or a newer one."
        )
    programs = find(
        max(version, manifest.programs), folder=folder, what="Restoring this backup here"
    )
    progress.begin({name: table.bytes for name, table in manifest.tables.items()})
    schema = manifest.schema
    before = _BEGUN
    if not ours.execute(_HAS_SCHEMA, [schema]).fetchall():
        before += sql.SQL("CREATE SCHEMA {};\n").format(sql.Identifier(schema)).as_bytes()
    if replace:
        before += read_contents(ours, schema).removal().encode()
    _pour(path, server, programs, manifest, before=before, version=version, progress=progress)
    contents = read_contents(ours, schema)
    ours.execute(f"ANALYZE {', '.join(contents.tables)}".encode())
    _compare(manifest, count(ours, schema, contents.sizes.items()))


def _pour(
    path: Path,
    server: Server,
    programs: Programs,
    manifest: Manifest,
    *,
    before: bytes,
    version: int,
    progress: Progress,
) -> None:
    """Pipe pg_restore's SQL through us to psql, which executes it in one transaction."""
    write = programs.command(
        *("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"),
        *("--file=-", f"--dbname={server.conninfo}"),
    )
    with _reading(path, server, programs, manifest, stdout=subprocess.PIPE) as reading:
        writing = server.run(write, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        with Listener(reading, progress) as source, Listener(writing, progress) as sink:
            is_read = _copy(reading, writing, start=before, version=version)
            is_written = writing.wait() == 0
            if not is_written and (why := sink.faults()):
                raise BackupError(f"Nothing was restored: {why}")
            if not (is_read and is_written):
                raise BackupError(f"Nothing was restored: {source.faults() or 'psql was killed.'}")


@contextlib.contextmanager
def _reading(
    path: Path, server: Server, programs: Programs, manifest: Manifest, *, stdout: int
) -> Iterator[subprocess.Popen[bytes]]:
    """pg_restore, which writes those entries that are the program's as SQL.

    Owners and privileges are not restored: the account owns everything, as after `migrate`.
    """
    with os.fdopen(os.memfd_create("entries"), "wb") as entries:
        entries.write("".join(f"{entry};\n" for entry in manifest.entries).encode())
        entries.flush()
        how = ("--no-owner", "--no-privileges", "--verbose", "--file=-")
        chosen = f"--use-list=/proc/self/fd/{entries.fileno()}"
        yield server.run(
            programs.command("pg_restore", *how, chosen, str(path)),
            stdout=stdout,
            stderr=subprocess.PIPE,
            pass_fds=[entries.fileno()],
        )


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
