"""Makes a backup of what is ours in the database that Django uses, while everything runs."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import tomllib
from datetime import datetime
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from trackers.backups import keys
from trackers.backups.contents import Progress, count, read_contents
from trackers.backups.file import BackupError, Manifest, digest, unfinished
from trackers.backups.programs import Programs, find
from trackers.backups.server import Server, is_standby, major, schema_of_tables

# Level 1: ten times as fast as the default level 6, for some tenths more bytes.
_FLAGS = ("--format=custom", "--compress=1", "--verbose", "--lock-wait-timeout=60s")
_REPORTED = re.compile(r"(?:dumping contents of|processing data for) table \"(.+)\"$")
# The program's progress notes, which are not errors.
_NOTE = re.compile(r"pg_(?:dump|restore): (?!error|fatal|warning|detail|hint)")


def back_up(target: Path, *, now: datetime, folder: Path | None, progress: Progress) -> Manifest:
    """Write the backup to `target`, which must not exist; BackupError or OSError: nothing is left.

    pg_dump and the counts read one snapshot, the one of our transaction.
    """
    if target.exists():
        raise BackupError(f"{target} already exists. Choose another name.")
    if (schema := schema_of_tables()) is None:
        raise BackupError("The database has no tables of tweetwatch: there is nothing to back up.")
    locks, unreadable = keys.locks()
    migrations = sorted(".".join(one) for one in MigrationRecorder(connection).applied_migrations())
    server = Server.of(connection)
    with server.connect() as ours, unfinished(target.parent) as file:
        ours.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        programs = find(major(ours), folder=folder, what="A backup of this server")
        [(snapshot,)] = ours.execute("SELECT pg_export_snapshot()").fetchall()
        contents = read_contents(ours, schema)
        progress.begin(contents.sizes)
        command = programs.command("pg_dump", *_FLAGS, f"--snapshot={snapshot}")
        command += [f"--schema={sql.Identifier(schema).as_string()}"]
        # What others have beside our tables may not even be readable for us.
        command += [f"--exclude-table={name}" for name in contents.foreign]
        command += [f"--file={file.path}", f"--dbname={server.conninfo}"]
        if is_standby(ours):
            command.append("--no-unlogged-table-data")
        dump = server.run(command, stderr=subprocess.PIPE, pass_fds=[file.fd])
        # Concurrently with the dump, which compresses what is only counted here.
        with Listener(dump, progress) as heard:
            tables = count(ours, schema, contents.sizes.items())
            if dump.wait() != 0:
                raise BackupError(f"pg_dump did not finish: {heard.faults() or dump.returncode}")
        listing = _list(programs, server, path=file.path, fd=file.fd)
        size = os.fstat(file.fd).st_size
        manifest = Manifest(
            made_at=now,
            version=_version(),
            server=major(ours),
            programs=programs.version,
            migrations=migrations,
            schema=schema,
            tables=tables,
            entries=contents.own_entries(listing),
            left_out=list(contents.left_out.values()),
            locks=locks,
            unreadable=unreadable,
            size=size,
            sha256=digest(file.fd, size),
        )
        file.finish(manifest, target)
    return manifest


def _list(programs: Programs, server: Server, *, path: str, fd: int) -> str:
    """What pg_dump wrote, as pg_restore lists it."""
    command = programs.command("pg_restore", "--list", path)
    listing = server.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[fd])
    entries, said = listing.communicate()
    if listing.returncode:
        raise BackupError(f"pg_restore cannot read what pg_dump wrote: {said.decode().strip()}")
    return entries.decode()


class Listener:
    """Reads a program's output while we do something else: its progress and its errors.

    If what we do fails, the program is ended.
    """

    def __init__(self, process: subprocess.Popen[bytes], progress: Progress) -> None:
        self.process, self.progress = process, progress
        self.lines: list[str] = []
        self.thread = threading.Thread(target=self.listen, daemon=True)

    def __enter__(self) -> Listener:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.thread.join()

    def listen(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as said:
            for line in (one.decode(errors="replace").strip() for one in said):
                if found := _REPORTED.search(line):
                    self.progress.reach(found[1].rpartition(".")[2])
                elif not _NOTE.match(line):
                    self.lines.append(line)

    def faults(self) -> str:
        """All its error messages, once it has ended."""
        self.thread.join()
        return " ".join(self.lines)


def _version() -> str:
    """Of the program."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])
