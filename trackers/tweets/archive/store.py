"""Where an archive lies: a directory. A file has its name once all of it is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

# Of a file that is being written. Programs that read the archive look for *.parquet.
_UNFINISHED = ".unfinished"


@dataclass(frozen=True, slots=True)
class Directory:
    """All methods raise OSError. A path is relative, with slashes."""

    root: Path

    def __str__(self) -> str:
        return str(self.root)

    @contextmanager
    def writing(self, path: str) -> Iterator[BinaryIO]:
        """A file that replaces what is there when the block ends well; else nothing is left."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(target.name + _UNFINISHED)
        try:
            with unfinished.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.rename(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        _flush_folder(target.parent)

    def create(self, path: str, data: bytes) -> bool:
        """Write a small file, unless there is one; False: there is."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(target.name + _UNFINISHED)
        try:
            with unfinished.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # Unlike a rename, a link does not replace.
            os.link(unfinished, target)
        except FileExistsError:
            return False
        finally:
            unfinished.unlink(missing_ok=True)
        _flush_folder(target.parent)
        return True

    def read(self, path: str) -> bytes | None:
        """A small file; None: there is none."""
        try:
            return (self.root / path).read_bytes()
        except FileNotFoundError:
            return None

    def names(self, folder: str, pattern: str) -> list[str]:
        """The paths of such files in a folder, in their order."""
        found = (self.root / folder).glob(pattern)
        return sorted(str(one.relative_to(self.root)) for one in found)

    def has(self, path: str) -> bool:
        return (self.root / path).exists()

    def open(self, path: str) -> BinaryIO:
        return (self.root / path).open("rb")

    def remove(self, path: str) -> None:
        """Also what is left of writing it. Nothing there is fine."""
        target = self.root / path
        for one in (target, target.with_name(target.name + _UNFINISHED)):
            one.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """A name is on the disk only when its folder is."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


Store = Directory


def configured() -> Store | None:
    """The archive of this installation, by ARCHIVE; None: it has none."""
    return Directory(Path(settings.ARCHIVE)) if settings.ARCHIVE else None


def lacking_packages(store: Store) -> str:
    """What has to be installed before it can be used, in a sentence; empty: nothing."""
    if find_spec("pyarrow"):
        return ""
    return (
        "The archive needs the package pyarrow, which is not installed here: "
        "pip install -r requirements-parquet.txt."
    )
