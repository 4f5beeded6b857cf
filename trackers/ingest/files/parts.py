"""A file in parts: whole lines with their numbers, packed, for any worker to take."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

from trackers.ingest.files.rejected import Rejects
from trackers.ingest.files.table import Record
from trackers.ingest.found_tweets import Rejected

# Some tenths of a second of work: little is repeated after a crash, and many workers can help.
# A quarter of this size costs a third more in statements and commits; and it would have fewer
# tweets than arrive in a second, which the queue does not spread.
_MOST_LETTERS, _MOST_LINES = 4 << 20, 4000
# The fastest level; it shrinks JSON to a fifth.
_LEVEL = 1


def parts(records: Iterable[Record | Rejected], rejects: Rejects) -> Iterator[Record]:
    """Yields the lines of one part at a time; records stay whole. Rejects go to `rejects`."""
    part: list[tuple[int, str]] = []
    size = 0
    for record in records:
        if isinstance(record, Rejected):
            rejects.add(record)
            continue
        if part and (size > _MOST_LETTERS or len(part) >= _MOST_LINES):
            yield part
            part, size = [], 0
        part += record
        size += sum([len(line) for _, line in record])
    if part:
        yield part


def pack(lines: Sequence[tuple[int, str]]) -> bytes:
    text = "\n".join([f"{number}\t{line}" for number, line in lines])
    return zlib.compress(text.encode(), _LEVEL)


def unpack(packed: bytes) -> Iterator[tuple[int, str]]:
    # Not splitlines: tweets contain line separators of their own.
    for one in zlib.decompress(packed).decode().split("\n"):
        number, _, line = one.partition("\t")
        yield int(number), line
