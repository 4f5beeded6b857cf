"""Where the files of one embedded server are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

DATABASE = "tweetwatch"
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
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 16384))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return text.splitlines()[-lines:]
