"""A tweet's samples in the archive. The index in the database says which row groups may have them,
so that nothing is listed, and nothing else is opened.

An archive that fails counts as away for half a minute: what is here is shown, and what is missing
is said. Nothing that looks tweets up reads it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.archive.store import Store, configured, lacking_packages
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor

logger = logging.getLogger(__name__)

# A sample in the order of the columns of the tables here.
Row = tuple[Any, ...]

# A page waits no longer, whatever the disk does.
_PATIENCE_S = 1.0
_AWAY_FOR_S = 30.0
_READERS = 4
# Nearer to the footer, a row group is read together with it.
_NEAR = 64 * 2**10
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_READ_COLUMNS = ("taken_at", "lasted_us", "measurements", *METRICS)

# By the index on ids. A sample is in the month in which it ended.
_FILES = """
    SELECT path, month, bytes, places, first_ids, last_ids FROM trackers_archivefile
    WHERE state = 'written' AND ids @> %(id)s::bigint
      AND month >= date_trunc('month', %(since)s::timestamptz, 'UTC') AT TIME ZONE 'UTC'
      AND taken_from < %(until)s::timestamptz
      AND NOT EXISTS (SELECT FROM trackers_erasedtweet WHERE tweet_id = %(id)s)
    ORDER BY month, path
"""

_NOT_CONFIGURED = "ARCHIVE is not set here."
_TOO_SLOW = "It takes too long to read."


@dataclass(frozen=True, slots=True)
class IndexedFile:
    path: str
    month: Any
    bytes: int
    places: list[int]  # of its row groups, and of its footer
    groups: list[int]  # those that may have the tweet


@dataclass(slots=True)
class Found:
    rows: list[Row] = field(default_factory=list)
    lacking: str = ""  # what is not among them, and why; a sentence


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


def archived(tweet_id: int, *, since: datetime | None, until: datetime | None) -> Found:
    """What the archive has of a tweet: samples that ended since then, and began before."""
    store = configured()
    if store is None and _is_unused():
        return Found()
    files = _indexed_files(tweet_id, since, until)
    if not files:
        return Found()
    if store is None:
        return Found([], _lacking(files, _NOT_CONFIGURED))
    if packages := lacking_packages(store):
        return Found([], _lacking(files, packages))
    if not absence.is_over:
        return Found([], _lacking(files, absence.why))
    read, failures = _read_all(store, files, tweet_id)
    missing = [file for file in files if file.path not in read]
    if missing and failures:
        # A file that was replaced since it was looked up is found under its new name.
        again = _indexed_files(tweet_id, since, until)
        if {file.path for file in again} != {file.path for file in files}:
            files = again
            read, failures = _read_all(store, files, tweet_id)
            missing = [file for file in files if file.path not in read]
    rows = [row for file in files for row in read.get(file.path, ())]
    if not missing:
        return Found(rows)
    why = failures[0] if failures else _TOO_SLOW
    if failures or not read:
        logger.warning("the archive is away: %s", why)
        absence.begin(why)
    return Found(rows, _lacking(missing, why))


def _is_unused() -> bool:
    """Asked twice a minute, not for every page."""
    if not disuse.is_over:
        return True
    if ArchiveFile.objects.filter(state=ArchiveFile.State.WRITTEN).exists():
        return False
    disuse.begin(_NOT_CONFIGURED)
    return True


def _indexed_files(
    tweet_id: int, since: datetime | None, until: datetime | None
) -> list[IndexedFile]:
    params = {"id": tweet_id, "since": since or "-infinity", "until": until or "infinity"}
    with cursor() as db:
        rows = db.execute(_FILES, params).fetchall()
    return [
        IndexedFile(path, month, size, places, groups)
        for path, month, size, places, first_ids, last_ids in rows
        if (groups := _groups(tweet_id, first_ids, last_ids))
    ]


def _groups(tweet_id: int, first_ids: Sequence[int], last_ids: Sequence[int]) -> list[int]:
    return list(range(bisect_left(last_ids, tweet_id), bisect_right(first_ids, tweet_id)))


def _lacking(files: Sequence[IndexedFile], why: str) -> str:
    first, last = files[0].month, files[-1].month
    months = f"{first:%Y-%m}" if first == last else f"{first:%Y-%m} to {last:%Y-%m}"
    return f"Samples of {months} are missing: they are in the archive, which cannot be read. {why}"


def _read_all(
    store: Store, files: Sequence[IndexedFile], tweet_id: int
) -> tuple[dict[str, list[Row]], list[str]]:
    """The rows of each file that could be read in time, and why others could not.

    In threads that nobody waits for at the end: a disk that hangs, hangs them alone.
    """
    waiting: SimpleQueue[IndexedFile] = SimpleQueue()
    done: SimpleQueue[tuple[str, list[Row] | Exception]] = SimpleQueue()
    for file in files:
        waiting.put(file)

    def work() -> None:
        while True:
            try:
                file = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((file.path, list(_rows_of(store, file, tweet_id))))
            # Also what pyarrow raises for a damaged file, which is a ValueError.
            except (OSError, ValueError) as error:
                done.put((file.path, error))

    for _ in range(min(_READERS, len(files))):
        threading.Thread(target=work, daemon=True).start()
    read: dict[str, list[Row]] = {}
    failures: list[str] = []
    deadline = time.monotonic() + _PATIENCE_S
    for _ in files:
        try:
            path, result = done.get(timeout=max(0.0, deadline - time.monotonic()))
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


def _rows_of(store: Store, file: IndexedFile, tweet_id: int) -> Iterator[Row]:
    import pyarrow
    from pyarrow import compute, parquet

    with _open_pieces(store, file) as source, parquet.ParquetFile(source) as opened:
        table = opened.read_row_groups(
            file.groups, columns=["id", *_READ_COLUMNS], use_threads=False
        )
    table = table.filter(compute.equal(table.column("id"), tweet_id))
    times = table.column("taken_at").cast(pyarrow.int64()).to_pylist()
    others = (table.column(name).to_pylist() for name in _READ_COLUMNS[1:])
    for taken_us, lasted_us, *figures in zip(times, *others, strict=True):
        taken_at = _EPOCH + timedelta(microseconds=taken_us)
        yield (tweet_id, taken_at, taken_at + timedelta(microseconds=lasted_us), *figures)


@contextmanager
def _open_pieces(store: Store, file: IndexedFile) -> Iterator[BinaryIO]:
    """The file, of which only the row groups and the footer are there, with holes between them.

    They are read at once: a bucket takes the longer, the more often it is asked in turn.
    """
    if not file.places:  # written by an earlier version
        with store.open(file.path) as whole:
            yield whole
        return
    start, end = file.places[file.groups[0]], file.places[file.groups[-1] + 1]
    footer = file.places[-1]
    is_near = footer - end < _NEAR
    ranges = [(start, file.bytes)] if is_near else [(start, end), (footer, file.bytes)]
    with os.fdopen(os.memfd_create("parquet"), "w+b") as copy:
        for (start, _), piece in zip(ranges, store.read_ranges(file.path, ranges), strict=True):
            os.pwrite(copy.fileno(), piece, start)
        yield copy
