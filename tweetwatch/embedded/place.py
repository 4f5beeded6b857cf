"""Where the files of one embedded server are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tweetwatch.embedded.account import read_own

DATABASE = "tweetwatch"
# The application's role; the superuser is only used to create the role and its database.
ROLE = "tweetwatch"
SUPERUSER = "postgres"


@dataclass(frozen=True, slots=True)
class Place:
    directory: Path

    @classmethod
    def at(cls, directory: Path) -> Self:
        """The place under `directory`; nothing is created."""
        return cls(directory.expanduser().resolve())

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def server_log(self) -> Path:
        return self.data / "log"

    @property
    def keeper_log(self) -> Path:
        return self.directory / "keeper.log"

    @property
    def keeper_lock(self) -> Path:
        return self.directory / "keeper.lock"

    @property
    def users_lock(self) -> Path:
        return self.directory / "users.lock"


def last_lines(path: Path, *, lines: int) -> list[str]:
    """The last lines of a log; none when it can't be read."""
    try:
        return read_own(path, last=16384).splitlines()[-lines:]
    except OSError:
        return []
