"""A ZIP archive: which of its files are read. X's own archive of an account is one.

names ─> the posts of X's archive, else all ─> the beginning of each is read ─> Members, left out
Nothing is unpacked to disk, and the sizes that an archive states are not trusted.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from trackers.ingest.files.firstbytes import ZIP, check_first_bytes, head_of
from trackers.ingest.files.limits import Limits, Taken
from trackers.ingest.files.opening import DAMAGE, is_damage, lines_of
from trackers.ingest.found_tweets import UnreadableError

# Each is opened and its beginning read.
_MOST_FILES = 2000
_NAMED_AT_MOST = 5
_LONGEST_NAME = 80
# The posts of an account, as X has called them over the years: since 2018, and in communities;
# before, by month, with the same in one table.
_OF_X = re.compile(
    r"(?:^|/)data/(?:tweets?|community[-_]tweets?)(?:-part\d+)?\.js$"
    r"|(?:^|/)data/js/tweets/\d{4}_\d{2}\.js$",
    re.IGNORECASE,
)
_OLD_TABLE = re.compile(r"(?:^|/)tweets\.csv$", re.IGNORECASE)
_OLD_ARCHIVE = re.compile(r"(?:^|/)data/js/", re.IGNORECASE)
# What else X's archive knows of tweets, and why it is not among a person's own.
_OTHERS_OF_X = (
    (
        re.compile(r"(?:^|/)data/likes?(?:-part\d+)?\.js$"),
        "likes, tweets of others: upload it by itself",
    ),
    (re.compile(r"(?:^|/)data/deleted[-_]tweets?(?:-part\d+)?\.js$"), "tweets that you deleted"),
    (re.compile(r"(?:^|/)data/note[-_]tweets?(?:-part\d+)?\.js$"), "the long texts of your tweets"),
)
# Of what explains an archive nobody expects tweets.
_EXPLAINS = re.compile(r"(?:^|/)(?:readme|license|copying)(?:\.\w+)?$", re.IGNORECASE)
# Names that promise tweets are looked at first.
_PROMISES = re.compile(r"tweet|status|post|(?:^|[/_-])ids?(?:[._-]|$)", re.IGNORECASE)
_WORKBOOK = "It is a workbook. Save the sheet as CSV."
_DOCUMENT = "It is an office document. Save its text as a plain text file."
# How the type of an OpenDocument file begins, which it has in a file of its own.
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_NOT_THE_POSTS = "of X's archive, without posts"


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the archive that seems to be text."""

    name: str
    note: str = ""  # a note about its encoding, if any


@dataclass(frozen=True, slots=True)
class LeftOut:
    name: str
    why: str


class Archive:
    """A ZIP archive in a file that can seek. UnreadableError if it is damaged or a workbook."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._size = file.seek(0, io.SEEK_END)
            self._zip = zipfile.ZipFile(file)
            self._names = [one for one in self._zip.infolist() if not one.is_dir()]
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError) as fault:
            raise UnreadableError(f"It is a damaged ZIP archive: {fault}.") from None
        self._refuse_documents()
        self.left_out: list[LeftOut] = []

    def _refuse_documents(self) -> None:
        names = {one.filename for one in self._names}
        if "[Content_Types].xml" in names:
            is_workbook = any(name.startswith("xl/") for name in names)
            raise UnreadableError(_WORKBOOK if is_workbook else _DOCUMENT)
        if {"mimetype", "content.xml"} <= names:
            kind = self._head("mimetype").decode("ascii", "replace")
            if kind.startswith(OPEN_DOCUMENT):
                is_workbook = kind.startswith(f"{OPEN_DOCUMENT}spreadsheet")
                raise UnreadableError(_WORKBOOK if is_workbook else _DOCUMENT)

    def members(self) -> Iterator[Member]:
        """Those that may be read, by name; the others are added to `left_out`."""
        posts = self._posts_of_x()
        if posts:
            self._leave_out_others([file.filename for file in self._names if file not in posts])
        chosen = posts or self._names
        if len(chosen) > _MOST_FILES:
            chosen = sorted(chosen, key=lambda file: not _PROMISES.search(file.filename))
            rest = f"{len(chosen) - _MOST_FILES:,} more files"
            self.left_out.append(LeftOut(rest, f"{_MOST_FILES:,} are the most"))
        for file in sorted(chosen[:_MOST_FILES], key=lambda file: _by_number(file.filename)):
            if _is_hidden(file.filename) or _EXPLAINS.search(file.filename):
                continue
            try:
                yield Member(file.filename, self._look(file))
            except UnreadableError as fault:
                self.left_out.append(LeftOut(file.filename, str(fault).rstrip(".")))

    def _posts_of_x(self) -> list[zipfile.ZipInfo]:
        posts = [file for file in self._names if _OF_X.search(file.filename)]
        if posts or not any(_OLD_ARCHIVE.search(file.filename) for file in self._names):
            return posts
        return [file for file in self._names if _OLD_TABLE.search(file.filename)]

    def _leave_out_others(self, names: list[str]) -> None:
        named: list[LeftOut] = []
        for pattern, why in _OTHERS_OF_X:
            named += [LeftOut(name, why) for name in names if pattern.search(name)]
        self.left_out += named
        if rest := len(names) - len(named):
            others = "another file" if rest == 1 else f"{rest:,} others"
            self.left_out.append(LeftOut(others, _NOT_THE_POSTS))

    def _look(self, file: zipfile.ZipInfo) -> str:
        if file.flag_bits & 1:
            raise UnreadableError("It is protected by a password. Unpack it first.")
        head = self._head(file.filename)
        if head.startswith(ZIP):
            raise UnreadableError("It is a ZIP archive itself, or a workbook.")
        return check_first_bytes(head)

    def _head(self, name: str) -> bytes:
        with self._open(name) as file:
            try:
                return head_of(file)
            except DAMAGE as fault:
                if not is_damage(fault):
                    raise
                raise UnreadableError("It is damaged.") from None

    def _open(self, name: str) -> BinaryIO:
        try:
            return cast("BinaryIO", self._zip.open(name))
        except (NotImplementedError, RuntimeError) as fault:
            raise UnreadableError(f"It cannot be unpacked: {fault}.") from None
        except (zipfile.BadZipFile, ValueError, EOFError) as fault:
            raise UnreadableError(f"It is damaged: {fault}.") from None

    def lines(
        self,
        name: str,
        *,
        passed: Callable[[int], None],
        limits: Limits,
        taken: Taken,
    ) -> Iterator[str]:
        """`lines_of` one member; `passed` gets the number of its unpacked bytes."""
        with self._open(name) as file:
            for line in lines_of(
                cast("BinaryIO", Sips(file)), passed=passed, limits=limits, taken=taken
            ):
                limits.check_ratio(packed=self._size, unpacked=taken.bytes)
                yield line

    def left_out_note(self) -> str:
        """What was left out, in a sentence; empty when all files are read."""
        if not self.left_out:
            return ""
        named = [
            f"{shortened(one.name)} ({one.why[:1].lower()}{one.why[1:]})" for one in self.left_out
        ]
        more = len(named) - _NAMED_AT_MOST
        rest = [f"{more:,} more"] if more > 0 else []
        return f"Left out: {', '.join([*named[:_NAMED_AT_MOST], *rest])}."


class Sips:
    """Reads small pieces: of a damaged file, all that comes before the damage is still read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read1(self, most: int) -> bytes:
        found: bytes = self._file.read1(min(most, 1 << 14))  # type: ignore[attr-defined]
        return found

    read = read1


def is_zip(file: BinaryIO) -> bool:
    """Takes a file that can seek, and leaves it at its beginning."""
    file.seek(0)
    found = file.read(len(ZIP)) == ZIP
    file.seek(0)
    return found


def shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"


def _is_hidden(name: str) -> bool:
    """What macOS adds, and files whose name begins with a dot."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _by_number(name: str) -> list[tuple[int, str]]:
    """tweets-part2 before tweets-part10, and tweets before both."""
    return [
        (int(piece), "") if piece.isdigit() else (-1, piece)
        for piece in re.split(r"([0-9]{1,18})", name.removesuffix(".js"))
    ]
