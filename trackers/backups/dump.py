"""Makes a backup of the database that Django uses, while everything keeps running."""

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

from trackers.backups import counted, keys
from trackers.backups.archive import BackupError, Manifest, digest, unfinished
from trackers.backups.programs import Programs, find
from trackers.backups.server import Server, is_standby, major

# Level 1: ten times as fast as the default level 6, for some tenths more bytes.
_FLAGS = ("--format=custom", "--compress=1", "--verbose", "--lock-wait-timeout=60s")
_REPORTED = re.compile(r"(?:dumping contents of|processing data for) table \"(.+)\"$")
# The program's progress notes, which are not errors.
_NOTE = re.compile(r"pg_(?:dump|restore): (?!error|fatal|warning|detail|hint)")


def back_up(
    target: Path, *, now: datetime, folder: Path | None, progress: counted.Progress
) -> Manifest:
    """Write the backup to `target`, which must not exist; BackupError or OSError: nothing is left.

    pg_dump and the counts read one snapshot, the one of our transaction.
    """
    if target.exists():
        raise BackupError(f"{target} already exists. Choose another name.")
    locks, unreadable = keys.locks()
    migrations = sorted(".".join(one) for one in MigrationRecorder(connection).applied_migrations())
    server = Server.of(connection)
    with server.connect() as ours, unfinished(target.parent) as file:
        ours.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        programs = find(major(ours), folder=folder, what="A backup of this server")
        [(snapshot,)] = ours.execute("SELECT pg_export_snapshot()").fetchall()
        sizes = counted.sizes(ours)
        progress.begin({".".join(name): size for name, size in sizes.items()})
        command = programs.command("pg_dump", *_FLAGS, f"--snapshot={snapshot}")
        command += [f"--file={file.path}", f"--dbname={server.conninfo}"]
        if is_standby(ours):
            command.append("--no-unlogged-table-data")
        dump = server.run(command, stderr=subprocess.PIPE, pass_fds=[file.fd])
        # Concurrently with the dump, which compresses what is only counted here.
        with Listener(dump, progress) as heard:
            tables = counted.count(ours, sizes)
            if dump.wait() != 0:
                raise BackupError(f"pg_dump did not finish: {heard.faults() or dump.returncode}")
        size = os.fstat(file.fd).st_size
        manifest = Manifest(
            made_at=now,
            version=_version(),
            server=major(ours),
            programs=programs.version,
            migrations=migrations,
            tables=tables,
            locks=locks,
            unreadable=unreadable,
            size=size,
            sha256=digest(file.fd, size),
        )
        _look_through(programs, server, path=file.path, fd=file.fd)
        file.finish(manifest, target)
    return manifest


def _look_through(programs: Programs, server: Server, *, path: str, fd: int) -> None:
    """Check that pg_restore can read what pg_dump wrote."""
    listing = server.run(
        programs.command("pg_restore", "--list", path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[fd],
    )
    _, said = listing.communicate()
    if listing.returncode:
        raise BackupError(f"pg_restore cannot read what pg_dump wrote: {said.decode().strip()}")


class Listener:
    """Reads a program's output while we do something else: its progress and its errors.

    If what we do fails, the program is ended.
    """

    def __init__(self, process: subprocess.Popen[bytes], progress: counted.Progress) -> None:
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
                    self.progress.reach(found[1])
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
