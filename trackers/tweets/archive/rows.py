"""Packed rows as Arrow tables, a row group at a time.

COPY, a row a tweet, arrays in PostgreSQL's binary format ─> columns of bytes ─> numbers

PostgreSQL sends an array as a header and, for each element, its length and its bytes, the highest
first. Where none is null, each has its place, so that a column is cut out of millions of them by
slices, without an object for each.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from psycopg import sql

from trackers.tweets.archive.layout import schema
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor

if TYPE_CHECKING:
    import pyarrow

# What stands for an unknown count on the way, since a null has no bytes. No count is below zero.
_UNKNOWN = {4: -(2**31), 8: -(2**63)}
# PostgreSQL counts microseconds from the year 2000.
_POSTGRES_EPOCH_US = 946_684_800_000_000
# Of a column: its width in bytes, and whether it may be unknown.
_WIDTHS = {
    "taken_at": 8,
    "measured_until": 8,
    "measurements": 4,
    **dict.fromkeys(METRICS, 4),
    "views": 8,
}
# What comes before the first row, before the fields of each, and before the elements of an array.
_COPY_HEAD, _ROW_HEAD, _ARRAY_HEAD = 19, 2 + 4 + 8, 4 + 20

# By the primary key: the months of the tweets between two ids are skipped in the index.
_PLAN = """
    SELECT tweet_id, cardinality(taken_at) FROM trackers_packedsamples
    WHERE month = %(month)s AND tweet_id > %(after)s ORDER BY tweet_id LIMIT %(most)s
"""
_ARRAYS = ", ".join(
    f"array_replace({name}, NULL, {_UNKNOWN[width]})" if name in METRICS else name
    for name, width in _WIDTHS.items()
)
_COPY = sql.SQL(f"""
    COPY (SELECT tweet_id, {_ARRAYS} FROM trackers_packedsamples
          WHERE month = {{month}} AND tweet_id BETWEEN {{first}} AND {{last}} ORDER BY tweet_id)
    TO STDOUT (FORMAT binary)
""")


@dataclass(frozen=True, slots=True)
class IdRange:
    """The tweets from one id to another, both included."""

    first: int
    last: int


def ranges(month: date, *, after: int, most_tweets: int, samples_each: int) -> list[IdRange]:
    """What is packed of a month: the next so many tweets by id, in parts of some `samples_each`."""
    with cursor() as db:
        params = {"month": month, "after": after, "most": most_tweets}
        rows = db.execute(_PLAN, params, binary=True).fetchall()
    parts: list[IdRange] = []
    first, samples = None, 0
    for tweet_id, length in rows:
        first = tweet_id if first is None else first
        samples += length
        if samples >= samples_each:
            parts.append(IdRange(first, tweet_id))
            first, samples = None, 0
    return parts if first is None else [*parts, IdRange(first, rows[-1][0])]


def read_range(month: date, part: IdRange) -> pyarrow.Table:
    """The samples of these tweets by id and time, as they are packed now."""
    query = _COPY.format(
        month=sql.Literal(month), first=sql.Literal(part.first), last=sql.Literal(part.last)
    )
    pieces: dict[str, list[memoryview]] = {name: [] for name in _WIDTHS}
    lengths: dict[int, int] = {}
    with cursor() as db, db.copy(query) as rows:
        head = _COPY_HEAD
        for row in rows:
            block = memoryview(row)[head:]
            head = 0
            if len(block) > _ROW_HEAD:
                _take(block, lengths, pieces)
    return _as_table(lengths, pieces)


def _take(row: memoryview, lengths: dict[int, int], pieces: dict[str, list[memoryview]]) -> None:
    """Cut a tweet's row into the elements of its arrays, each with its length before it."""
    tweet_id = int.from_bytes(row[6:_ROW_HEAD], "big", signed=True)
    place = _ROW_HEAD
    first_size = int.from_bytes(row[place : place + 4], "big")
    length = (first_size - 20) // 12
    for name, width in _WIDTHS.items():
        start = place + _ARRAY_HEAD
        place = start + length * (4 + width)
        pieces[name].append(row[start:place])
    if place != len(row):
        raise ValueError(f"the arrays of tweet {tweet_id} are not of one length")
    lengths[tweet_id] = length


def _as_table(lengths: dict[int, int], pieces: dict[str, list[memoryview]]) -> pyarrow.Table:
    import pyarrow
    from pyarrow import compute

    ids = array("q", b"".join(id.to_bytes(8, sys.byteorder) * n for id, n in lengths.items()))
    columns = {"id": _column(ids, 8)}
    for name, width in _WIDTHS.items():
        columns[name] = _column(_values(array("I", b"".join(pieces.pop(name))), width), width)
    for name in METRICS:
        columns[name] = _with_nulls(columns[name], _UNKNOWN[_WIDTHS[name]])
    taken_at = columns["taken_at"]
    columns["lasted_us"] = compute.subtract(columns["measured_until"], taken_at)
    columns["taken_at"] = compute.add(taken_at, _POSTGRES_EPOCH_US).cast(
        schema().field("taken_at").type
    )
    table = pyarrow.table([columns[name] for name in schema().names], schema=schema())
    return _in_order(table)


def _values(elements: array[int], width: int) -> array[int]:
    """The numbers, in the order of bytes of this machine, of elements with a length before each."""
    elements.byteswap()
    if width == 4:
        return elements[1::2]
    values = array("I", bytes(8 * (len(elements) // 3)))
    values[0::2], values[1::2] = elements[2::3], elements[1::3]
    return values


def _column(values: array[int], width: int) -> pyarrow.Array:
    import pyarrow

    kind = pyarrow.int32() if width == 4 else pyarrow.int64()
    length = len(values) * values.itemsize // width
    return pyarrow.Array.from_buffers(kind, length, [None, pyarrow.py_buffer(values)])


def _with_nulls(column: pyarrow.Array, unknown: int) -> pyarrow.Array:
    import pyarrow
    from pyarrow import compute

    are_unknown = compute.equal(column, pyarrow.scalar(unknown, column.type))
    if not compute.any(are_unknown).as_py():
        return column
    return compute.if_else(are_unknown, pyarrow.scalar(None, column.type), column)


def _in_order(table: pyarrow.Table) -> pyarrow.Table:
    """By id and time. It nearly always is; a sample that was packed late is at the end of its
    tweet's."""
    from pyarrow import compute

    ids, times = (table.column(name).combine_chunks() for name in ("id", "taken_at"))
    falls = compute.or_(
        compute.less(ids[1:], ids[:-1]),
        compute.and_(compute.equal(ids[1:], ids[:-1]), compute.less(times[1:], times[:-1])),
    )
    if not compute.any(falls).as_py():
        return table
    return table.sort_by([("id", "ascending"), ("taken_at", "ascending")])
