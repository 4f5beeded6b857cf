"""Dumps all timelines into a file, and restores them.

{"format": …, "version": 1, …}    the first line
{"name": "home:1", "live": true, "read_at": …, "entries": [[id, secondary, metadata, dead_at], …]}
…                                  a line for each timeline, in the order of their names
{"timelines": 2, "entries": 40, "sha256": …}    the last line; the digest is of all before it

Entries are in the order of insertion, metadata in base64, tombstones with the time of the deletion.
All is as of one moment, whatever is written meanwhile, and writers do not wait for it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

import orjson
from django.db import connection, transaction

from trackers.timelines.locks import create_missing, make_and_lock
from trackers.timelines.put import put_entries, recount, remove_older
from trackers.timelines.snapshot_file import (
    FORMAT,
    VERSION,
    Dumped,
    dumped_timelines,
)

File = str | os.PathLike[str] | BinaryIO
_RESTORED_PER_STATEMENT = 100

# One statement, so that all is as of one moment. OFFSET 0: names are sorted first. LATERAL: the
# entries of one timeline after the other. The server wraps base64 into lines; translate joins them.
_DUMP = """
    SELECT json_build_object('name', t.name, 'live', t.live, 'read_at', t.last_read_at,
                             'entries', coalesce(e.list, '[]'))::text,
           coalesce(e.entries, 0)
    FROM (SELECT * FROM trackers_timeline ORDER BY name OFFSET 0) t
    CROSS JOIN LATERAL (
        SELECT json_agg(json_build_array(
                   entry_id, secondary, translate(encode(metadata, 'base64'), E'\\n', ''), dead_at
               ) ORDER BY seq, entry_id) AS list, count(*) AS entries
        FROM trackers_timelineentry WHERE timeline_id = t.id
    ) e
"""


def snapshot(file: File) -> int:
    """Write all timelines into the file; return how many. A file given by name is replaced only
    when the new one is complete and on disk."""
    if not isinstance(file, str | os.PathLike):
        return _dump(file)
    path = os.fspath(file)
    with tempfile.NamedTemporaryFile(
        dir=os.path.dirname(path) or ".",
        prefix=os.path.basename(path),
        suffix=".part",
        delete=False,
    ) as part:
        try:
            timelines = _dump(part)
            part.flush()
            os.fsync(part.fileno())
            os.replace(part.name, path)
        except BaseException:
            os.unlink(part.name)
            raise
    return timelines


def _dump(out: BinaryIO | IO[bytes]) -> int:
    digest, timelines, entries = hashlib.sha256(), 0, 0

    def write(line: bytes) -> None:
        digest.update(line)
        out.write(line)

    write(orjson.dumps({"format": FORMAT, "version": VERSION}) + b"\n")
    with transaction.atomic():
        connection.ensure_connection()
        with connection.connection.cursor(name="timelines") as rows:
            rows.itersize = _RESTORED_PER_STATEMENT
            for line, dumped in rows.execute(_DUMP):
                write(line.encode() + b"\n")
                timelines, entries = timelines + 1, entries + dumped
    summary = {"timelines": timelines, "entries": entries, "sha256": digest.hexdigest()}
    out.write(orjson.dumps(summary) + b"\n")
    return timelines


def restore(file: File) -> int:
    """Restore the timelines in the file to what they were; return how many are in it.

    It is one transaction: if it is killed, it has done all or nothing. What was deleted since stays
    deleted, and timelines that are not in the file stay as they are. Whatever was appended, merged
    or deleted since must be repeated by the caller, from a while before the snapshot: what is there
    already is skipped. SnapshotError: the file is truncated or damaged, has another version, or is
    not a snapshot.
    """
    with _opened_snapshot(file) as dumped:
        # The whole file is checked before anything is done. All names are created before the first
        # lock, and locks are taken in the order of names (`locks`).
        names = [one.name for one in dumped_timelines(dumped)]
        dumped.seek(0)
        with transaction.atomic():
            for first in range(0, len(names), _RESTORED_PER_STATEMENT):
                create_missing(names[first : first + _RESTORED_PER_STATEMENT])
            for some in _in_batches(dumped_timelines(dumped)):
                _put_back(some)
    return len(names)


@contextmanager
def _opened_snapshot(file: File) -> Iterator[BinaryIO]:
    """The file, which is read twice; one that cannot be, such as a pipe, is copied first."""
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as stream:
            yield stream
    elif file.seekable() and not file.tell():
        yield file
    else:
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            yield copy


def _in_batches(dumped: Iterator[Dumped]) -> Iterator[list[Dumped]]:
    some: list[Dumped] = []
    for one in dumped:
        some.append(one)
        if len(some) == _RESTORED_PER_STATEMENT:
            yield some
            some = []
    if some:
        yield some


def _put_back(some: list[Dumped]) -> None:
    locked = make_and_lock([one.name for one in some])
    put_entries(
        [
            (timeline.id, timeline.seq + place, entry, dead_at)
            for timeline, one in zip(locked, some, strict=True)
            for place, (entry, dead_at) in enumerate(one.entries, 1)
        ]
    )
    # A timeline that was not live in the snapshot has only tombstones: if it was set since, it
    # keeps its entries.
    remove_older([timeline for timeline, one in zip(locked, some, strict=True) if one.live])
    recount(
        locked,
        [timeline.seq + len(one.entries) for timeline, one in zip(locked, some, strict=True)],
        live=[one.live for one in some],
        read_at=[one.read_at for one in some],
    )
