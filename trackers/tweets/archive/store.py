"""Where an archive lies: a directory, or a bucket. A file has its name once all of it is there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from trackers.tweets.archive.bucket import S3Bucket

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
        """To read all of it."""
        return (self.root / path).open("rb")

    def read_ranges(
        self, path: str, ranges: Sequence[tuple[int, int]], *, is_hasty: bool
    ) -> list[bytes]:
        """The bytes from each first place to before the second. `is_hasty`: a page waits."""
        with self.open(path) as file:
            return [os.pread(file.fileno(), end - start, start) for start, end in ranges]

    def remove(self, path: str) -> None:
        """Also what is left of writing it. Nothing there is fine."""
        target = self.root / path
        for one in (target, target.with_name(target.name + _UNFINISHED)):
            one.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            _flush_folder(target.parent)

    def keeps_versions(self, path: str) -> bool:
        """Whether what is removed or replaced may stay readable, by this file."""
        return False


def _flush_folder(folder: Path) -> None:
    """A name is on the disk only when its folder is."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


Store = Directory | S3Bucket


def configured() -> Store | None:
    """The archive of this installation, by ARCHIVE; None: it has none."""
    where = settings.ARCHIVE
    if where.startswith("s3://"):
        return S3Bucket(where)
    return Directory(Path(where)) if where else None


def lacking_packages(store: Store) -> str:
    """What has to be installed before it can be used, in a sentence; empty: nothing."""
    needed = ["pyarrow", "obstore"] if isinstance(store, S3Bucket) else ["pyarrow"]
    lacking = " and ".join(name for name in needed if find_spec(name) is None)
    return lacking and (
        f"The archive needs {lacking}, not installed here: pip install -r requirements-parquet.txt."
    )
