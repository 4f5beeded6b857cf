"""Tweets' samples in the archive. The index in the database says which row groups may have them, so
that nothing is listed, and nothing else is opened.

For a page, an archive that fails counts as away for half a minute: what is here is shown, and what
is missing is said. A file gets all of it, or is refused. Nothing that looks tweets up reads it.
"""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from trackers.standbys.reading import AskPrimary, is_on_standby
from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.archive.store import Store, configured, lacking_packages
from trackers.tweets.archive.tables import IndexedFile, Row, rows_of, table_of
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline

if TYPE_CHECKING:
    import pyarrow

logger = logging.getLogger(__name__)

# A page waits no longer, whatever the disk does; a file, for some tweets at a time, a minute.
_PAGE_PATIENCE_S, _FILE_PATIENCE_S = 1.0, 60.0
_AWAY_FOR_S = 30.0
_READERS = 4
# How often files are looked up again that were replaced while they were read.
_TRIES = 3

# By the index on ids. A sample is in the month in which it ended. Files with their groups are read
# once, whatever number of tweets they have.
_FILES = """
    SELECT path, month, bytes, places, first_ids, last_ids, found.ids FROM (
        SELECT file.id, array_agg(asked.id) AS ids
        FROM unnest(%(ids)s::bigint[], %(since)s::timestamptz[], %(until)s::timestamptz[])
            AS asked(id, since, until)
        JOIN trackers_archivefile file ON file.state = 'written' AND file.ids @> asked.id
            AND file.month >= coalesce(
                date_trunc('month', asked.since, 'UTC') AT TIME ZONE 'UTC', '-infinity')
            AND file.taken_from < coalesce(asked.until, 'infinity')
        WHERE NOT EXISTS (SELECT FROM trackers_erasedtweet WHERE tweet_id = asked.id)
        GROUP BY file.id
    ) AS found JOIN trackers_archivefile USING (id)
    ORDER BY month, path
"""

_NOT_CONFIGURED = "ARCHIVE is not set here."
_TOO_SLOW = "It takes too long to read."


class ArchiveAway(Exception):
    """Something that a file needs cannot be read; the message says what is missing, and why."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Of a tweet, what ended since then, and began before. None: ever."""

    tweet_id: int
    since: datetime | None = None
    until: datetime | None = None


@dataclass(slots=True)
class Found:
    # Of some files each, with the columns of the layout; by id and time within each.
    tables: list[pyarrow.Table] = field(default_factory=list)
    lacking: str = ""  # what is not among them, and why; a sentence

    def rows(self) -> Iterator[Row]:
        for table in self.tables:
            yield from rows_of(table)


@dataclass(slots=True)
class Absence:
    """Until when the archive is not looked for, by time.monotonic(), in this process; and why."""

    until: float = 0.0
    why: str = ""

    def begin(self, why: str) -> None:
        self.until, self.why = time.monotonic() + _AWAY_FOR_S, why

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.until


absence = Absence()
# Where ARCHIVE is not set, and nothing is archived.
disuse = Absence()


def archived(asked: Sequence[Asked]) -> Found:
    """What the archive has of a few tweets, for a page, which waits a second for all of it."""
    if not asked or (configured() is None and _is_unused()):
        return Found()
    if not (files := _indexed_files(asked)):
        return Found()
    try:
        store = _readable(files)
    except ArchiveAway as fault:
        return Found([], str(fault))
    if not absence.is_over:
        return Found([], _lacking(files, absence.why))
    result = _read_in_time(store, files, asked, is_hasty=True)
    if result.is_away:
        logger.warning("the archive is away: %s", result.why)
        absence.begin(result.why)
    return result.found


def all_archived(asked: Sequence[Asked]) -> list[pyarrow.Table]:
    """The same for a file, which has all of it; else ArchiveAway."""
    if not (files := _indexed_files(asked)):
        return []
    store = _readable(files)
    found = _read_in_time(store, files, asked, is_hasty=False).found
    if found.lacking:
        raise ArchiveAway(found.lacking)
    return found.tables


def refuse_what_is_not_there() -> None:
    """ArchiveAway, if a file that counts is missing, for what would need it only later."""
    counting = ArchiveFile.objects.written().order_by("month", "path").only("path", "month")
    if not (files := list(counting)):
        return
    store = _readable(files)
    try:
        there = set(store.names("samples", "*/*.parquet"))
    except OSError as error:
        raise ArchiveAway(_lacking(files, _in_words(error))) from None
    missing = [file.path for file in files if file.path not in there]
    # Without those that were replaced since they were looked up.
    if missing and (files := list(counting.filter(path__in=missing))):
        raise ArchiveAway(_lacking(files, f"{files[0].path} is not there."))


def _is_unused() -> bool:
    """Asked twice a minute, not for every page."""
    if not disuse.is_over:
        return True
    if ArchiveFile.objects.written().exists():
        return False
    disuse.begin(_NOT_CONFIGURED)
    return True


def _readable(files: Sequence[IndexedFile | ArchiveFile]) -> Store:
    """Where they lie; ArchiveAway: nothing that lies there can be read here."""
    store = configured()
    why = lacking_packages(store) if store else _NOT_CONFIGURED
    if store is None or why:
        raise ArchiveAway(_lacking(files, why))
    return store


def _indexed_files(asked: Iterable[Asked]) -> list[IndexedFile]:
    columns = zip(*((one.tweet_id, one.since, one.until) for one in asked), strict=True)
    ids, since, until = columns
    params = {"ids": array(ids), "since": list(since), "until": list(until)}
    with cursor() as db:
        rows = db.execute(_FILES, params).fetchall()
    return [
        IndexedFile(path, month, size, places, groups, found)
        for path, month, size, places, first_ids, last_ids, found in rows
        if (groups := _groups(found, first_ids, last_ids))
    ]


def _groups(ids: Iterable[int], first_ids: Sequence[int], last_ids: Sequence[int]) -> list[int]:
    of_all = (range(bisect_left(last_ids, id), bisect_right(first_ids, id)) for id in ids)
    return sorted({group for of_one in of_all for group in of_one})


def _lacking(files: Sequence[IndexedFile | ArchiveFile], why: str) -> str:
    first, last = files[0].month, files[-1].month
    months = f"{first:%Y-%m}" if first == last else f"{first:%Y-%m} to {last:%Y-%m}"
    return f"Samples of {months} are missing: they are in the archive, which cannot be read. {why}"


@dataclass(frozen=True, slots=True)
class Reading:
    found: Found
    why: str  # something is missing; empty: nothing is
    is_away: bool  # so that others had better not try


def _read_in_time(
    store: Store, files: list[IndexedFile], asked: Sequence[Asked], *, is_hasty: bool
) -> Reading:
    deadline = Deadline.after(_PAGE_PATIENCE_S if is_hasty else _FILE_PATIENCE_S)
    for _ in range(_TRIES):
        read, failures = _read_all(store, files, deadline, is_hasty=is_hasty)
        missing = [file for file in files if file.path not in read]
        if not (missing and failures):
            break
        # A file that was replaced since it was looked up is found under its new name.
        again = _indexed_files(asked)
        if {file.path for file in again} == {file.path for file in files}:
            if is_on_standby():
                # Its index may be of before they were replaced.
                raise AskPrimary
            break
        files = again
    tables = [read[file.path] for file in files if file.path in read]
    if not missing:
        return Reading(Found(tables), "", is_away=False)
    why = failures[0] if failures else _TOO_SLOW
    return Reading(Found(tables, _lacking(missing, why)), why, is_away=bool(failures or not read))


def _read_all(
    store: Store, files: Sequence[IndexedFile], deadline: Deadline, *, is_hasty: bool
) -> tuple[dict[str, pyarrow.Table], list[str]]:
    """What each file that could be read in time has of the tweets, and why others could not.

    In threads that nobody waits for at the end: a disk that hangs, hangs them alone.
    """
    waiting: SimpleQueue[IndexedFile] = SimpleQueue()
    done: SimpleQueue[tuple[str, pyarrow.Table | Exception]] = SimpleQueue()
    for file in files:
        waiting.put(file)

    def work() -> None:
        while True:
            try:
                file = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((file.path, table_of(store, file, is_hasty=is_hasty)))
            # Also what pyarrow raises for a damaged file, which is a ValueError.
            except (OSError, ValueError) as error:
                done.put((file.path, error))

    for _ in range(min(_READERS, len(files))):
        threading.Thread(target=work, daemon=True).start()
    read: dict[str, pyarrow.Table] = {}
    failures: list[str] = []
    for _ in files:
        try:
            path, result = done.get(timeout=max(0.0, deadline.left))
        except Empty:
            break
        if isinstance(result, Exception):
            failures.append(_in_words(result))
        else:
            read[path] = result
    while not waiting.empty():
        waiting.get_nowait()
    return read, failures


def _in_words(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{text.rstrip('.')}."
