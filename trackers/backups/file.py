"""The file of a backup: what pg_dump writes (custom format), and a line of JSON, its manifest.

pg_restore reads such a file as it is, and `tail -n 1` prints the manifest, which a truncated file
lacks. The file gets its name when it is complete; until then it is nameless, so that the kernel
removes it however the program ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self


class BackupError(RuntimeError):
    """A backup was not made, or not restored; the message says why, and what to do."""


ENDING = ".dump"
STAMP = "tweetwatch-%Y%m%dT%H%M%SZ"
_FORMAT = 2
# Partitions are tables: after some years a manifest takes a few hundred kilobytes.
_MANIFEST_MOST = 16 * 2**20
_BLOCK = 2**20
# Errors of file systems without nameless files, such as NFS.
_UNSUPPORTED = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL}


@dataclass(frozen=True, slots=True)
class Table:
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    made_at: datetime
    version: str
    # Major versions: of the server, and of the pg_dump that read it.
    server: int
    programs: int
    # All applied migrations, as app.name.
    migrations: list[str]
    # Of the tables, and these by name, partitions included.
    schema: str
    tables: dict[str, Table]
    # The numbers of the program's entries in pg_restore's list, in its order; descriptions of what
    # was in the database and is not the program's.
    entries: list[int]
    left_out: list[str]
    # For each of FIELD_KEYS that is in use, a text that it encrypted; and the number of secrets
    # that none of them could decrypt.
    locks: list[str]
    unreadable: int
    # Size of the archive.
    size: int
    sha256: str

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    def line(self) -> bytes:
        fields = {"tweetwatch_backup": _FORMAT, **asdict(self), "made_at": self.made_at.isoformat()}
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def parsed(cls, line: bytes) -> Self | None:
        """None if it is not a manifest; BackupError if another version wrote it differently."""
        try:
            fields: dict[str, Any] = json.loads(line)
            form = fields.pop("tweetwatch_backup")
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        if form != _FORMAT:
            raise BackupError(
                f"It was made by tweetwatch {fields.get('version')}, whose backups this version "
                "cannot read: restore it with that version."
            )
        fields["made_at"] = datetime.fromisoformat(fields["made_at"])
        fields["tables"] = {name: Table(**one) for name, one in fields["tables"].items()}
        return cls(**fields)


def read_manifest(path: Path) -> Manifest:
    """The manifest at the end of a backup; OSError, or BackupError if it has none."""
    with path.open("rb") as file:
        start = file.read(5)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MANIFEST_MOST))
        tail = file.read()
    _, line_break, line = tail.removesuffix(b"\n").rpartition(b"\n")
    manifest = Manifest.parsed(line) if line_break and tail.endswith(b"\n") else None
    if manifest is None and start == b"PGDMP":
        raise BackupError(
            f"{path} has no manifest at its end. Either it was cut off, so use another copy, or "
            "pg_dump made it, so use pg_restore."
        )
    if manifest is None:
        raise BackupError(f"{path} is not a backup made by `manage.py backup`.")
    if size - len(line) - 2 != manifest.size:
        raise BackupError(f"{path} is damaged: its length does not match its manifest.")
    return manifest


def verify(path: Path, manifest: Manifest) -> None:
    """Read all of it; BackupError if a byte has changed since it was made."""
    with path.open("rb") as file:
        if digest(file.fileno(), manifest.size) != manifest.sha256:
            raise BackupError(f"{path} is damaged: its checksum does not match its manifest.")


def digest(fd: int, size: int) -> str:
    made, place = hashlib.sha256(), 0
    while place < size and (block := os.pread(fd, min(_BLOCK, size - place), place)):
        made.update(block)
        place += len(block)
    return made.hexdigest()


@dataclass(slots=True)
class Unfinished:
    """A file being written."""

    fd: int
    path: str  # how another program opens it

    def finish(self, manifest: Manifest, target: Path) -> None:
        """Add the manifest, and give the file its name; FileExistsError if that is taken."""
        os.lseek(self.fd, 0, os.SEEK_END)
        with os.fdopen(os.dup(self.fd), "wb") as file:
            file.write(b"\n" + manifest.line() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # With a folder's descriptor, Python has the link followed to the nameless file.
            os.link(self.path, target.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def unfinished(folder: Path) -> Iterator[Unfinished]:
    """A file in this folder that only we can read; it is removed unless it was finished."""
    try:
        fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError as error:
        if error.errno not in _UNSUPPORTED or not folder.is_dir():
            raise
        with _named(folder) as file:
            yield file
        return
    try:
        yield Unfinished(fd, f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


@contextlib.contextmanager
def _named(folder: Path) -> Iterator[Unfinished]:
    """Where a file needs a name: SIGKILL leaves it behind, and the next backup removes it."""
    for left in folder.glob(".tweetwatch-*.partial"):
        with left.open("rb") as file, contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    path = folder / f".tweetwatch-{os.getpid()}.partial"
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield Unfinished(fd, str(path))
    finally:
        path.unlink()
        os.close(fd)


# Names given by `backup`; files with other names belong to the user.
_NAMED = re.compile(rf"tweetwatch-\d{{8}}T\d{{6}}Z{re.escape(ENDING)}")


def remove_older(folder: Path, *, keep: int) -> list[Path]:
    """Remove all intact backups but the newest `keep`; damaged ones do not count, and stay."""
    whole = []
    for path in sorted(folder.iterdir(), reverse=True):
        if _NAMED.fullmatch(path.name) and path.is_file():
            with contextlib.suppress(BackupError):
                read_manifest(path)
                whole.append(path)
    for path in whole[keep:]:
        path.unlink()
    return whole[keep:]
