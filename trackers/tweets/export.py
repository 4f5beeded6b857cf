"""Samples as lines, and the rows of any query, streamed from the database: memory does not grow
with their number.

COPY ... TO STDOUT on a snapshot of its own ─> JSONL or CSV, in blocks
Where samples are archived: some tweets' ─ COPY ─┬─> by tweet and time ─> the next tweets'
                                        archive ─┘
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal

from django.db import transaction
from psycopg import sql

from trackers.tweets.archive.lines import key_of, lines_of
from trackers.tweets.archive.models import ArchiveFile
from trackers.tweets.archive.read import Asked, all_archived, refuse_what_is_not_there
from trackers.tweets.history import EVERY_RUN
from trackers.tweets.models import METRICS, Tweet
from tweetwatch.database import Cursor, cursor
from tweetwatch.tables import Column

if TYPE_CHECKING:
    import pyarrow

Format = Literal["jsonl", "csv"]
_BLOCK_SIZE = 64 * 1024
# Of a sample, in every file of samples.
SAMPLE_COLUMNS = (
    Column("tweet_id", "id"), Column("taken_at", "time"), Column("measured_until", "time"),
    Column("measurements", "whole"), *(Column(metric, "whole") for metric in METRICS),
)  # fmt: skip


def iso_text(value: str) -> str:
    """A time as `iso` writes it, in SQL."""
    return f"to_char({value} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"


# Sorted before the lines are made: otherwise all lines of all tweets are made before the first one
# is sent.
_RUNS = f"(SELECT * FROM ({EVERY_RUN}) AS run WHERE {{chosen}} {{order}}) AS run"
IN_ORDER = sql.SQL("ORDER BY run.tweet_id, run.taken_at")

# Ids are strings: a JSON reader would round numbers of this size.
SAMPLE_ROWS = f"""
    SELECT tweet_id::text AS tweet_id, {iso_text("taken_at")} AS taken_at,
           {iso_text("measured_until")} AS measured_until, measurements, {", ".join(METRICS)}
    FROM {_RUNS}
"""
_MEMBER = "',\"{0}\":', coalesce({0}::text, 'null')"
# Concatenated, since nothing here needs escaping: row_to_json takes 1.4 times as long.
SAMPLE_LINES = f"""
    SELECT concat('{{{{"tweet_id":"', tweet_id, '","taken_at":"', {iso_text("taken_at")},
                  '","measured_until":"', {iso_text("measured_until")},
                  '","measurements":', measurements,
                  {", ".join(_MEMBER.format(metric) for metric in METRICS)},
                  '}}}}')
    FROM {_RUNS}
"""


_QUERIES: dict[Format, str] = {"csv": SAMPLE_ROWS, "jsonl": SAMPLE_LINES}
_ALL = sql.SQL("true")
# For as long as nothing is archived, which the snapshot of the statement itself decides.
_UNARCHIVED = sql.SQL("NOT EXISTS (SELECT FROM trackers_archivefile WHERE state = 'written')")
# With archived ones among them: their samples are in memory, of ten years some thousands each.
TWEETS_AT_ONCE = 100


def export_samples(ids: Sequence[int], *, format: Format) -> Iterator[bytes]:
    """Every sample of these tweets, by tweet and time; without ids, of all tweets, unordered.

    ArchiveAway, if those in the archive cannot be read: at once, or where that breaks off.
    """
    if not ArchiveFile.objects.written().exists():
        return _unarchived_blocks(ids, format)
    refuse_what_is_not_there()
    blocks = _blocks_by_tweets(ids, format)
    # Here, before anything is sent.
    first = next(blocks, b"")
    return chain([_head(format) + first], blocks)


def _unarchived_blocks(ids: Sequence[int], format: Format) -> Iterator[bytes]:
    head = _head(format)
    sent = 0
    for block in stream_blocks(_QUERIES[format], "run.tweet_id", ids, format, only=_UNARCHIVED):
        yield block
        sent += len(block)
    if sent == len(head):
        # There is none, or something has just been archived.
        yield from _blocks_by_tweets(ids, format)


def _blocks_by_tweets(ids: Sequence[int], format: Format) -> Iterator[bytes]:
    """Blocks of whole tweets, without the head. What is moved to the archive meanwhile, or there to
    another file, is found once: each tweet's samples here are read before those there."""
    for some in _by_id(ids):
        here = b"".join(stream_blocks(_QUERIES[format], "run.tweet_id", some, format))
        here = here.removeprefix(_head(format))
        if tables := all_archived([Asked(id) for id in some]):
            yield from _merged(here, tables, some, as_csv=format == "csv")
        elif here:
            yield here


def _by_id(ids: Sequence[int]) -> Iterator[list[int]]:
    if ids:
        ordered = sorted(set(ids))
        for place in range(0, len(ordered), TWEETS_AT_ONCE):
            yield ordered[place : place + TWEETS_AT_ONCE]
        return
    tracked = Tweet.objects.order_by("pk").values_list("pk", flat=True)
    some = list(tracked[:TWEETS_AT_ONCE])
    while some:
        yield some
        some = list(tracked.filter(pk__gt=some[-1])[:TWEETS_AT_ONCE])


def _merged(
    here: bytes, tables: Sequence[pyarrow.Table], ids: Sequence[int], *, as_csv: bool
) -> Iterator[bytes]:
    """By tweet and time; a sample that is in both is that of here."""
    lines_here: dict[int, dict[str, str]] = {}
    for line in here.decode().splitlines():
        key = key_of(line, as_csv=as_csv)
        lines_here.setdefault(key.tweet_id, {})[key.taken_at] = line
    for id in ids:
        # Only those of one tweet are spelt out at a time: that takes some times the room.
        lines = lines_of(id, tables, as_csv=as_csv) | lines_here.get(id, {})
        if lines:
            yield "".join(f"{line}\n" for _, line in sorted(lines.items())).encode()


def _head(format: Format) -> bytes:
    return f"{','.join(column.name for column in SAMPLE_COLUMNS)}\n".encode() * (format == "csv")


def stream_blocks(
    query: str, column: str, ids: Sequence[int], format: Format, *, only: sql.SQL = _ALL
) -> Iterator[bytes]:
    """Blocks of whole lines. Holds a transaction for as long as the caller reads."""
    chosen: sql.Composable = only
    if ids:
        of_these = sql.SQL("{} = ANY({})").format(sql.SQL(column), sql.Literal(list(ids)))
        chosen = sql.SQL("{} AND {}").format(only, of_these)
    rows = sql.SQL(query).format(chosen=chosen, order=IN_ORDER if ids else sql.SQL(""))
    copy = _COPY[format].format(rows=rows)
    with transaction.atomic(), cursor() as db:
        db.execute(_IN_PARALLEL)
        yield from _copy_blocks(db, copy)


def _copy_blocks(db: Cursor, copy: sql.Composed) -> Iterator[bytes]:
    with db.copy(copy) as stream:
        block = bytearray()
        for line in stream:
            block += line
            if len(block) >= _BLOCK_SIZE:
                yield bytes(block)
                block.clear()
        if block:
            yield bytes(block)


# The planner assumes that building a line is nearly free and passing it on is expensive; the
# opposite is true. With these settings parallel workers build the lines of a large export.
_IN_PARALLEL = """
    SELECT set_config('parallel_tuple_cost', '0', true),
           set_config('parallel_setup_cost', '0', true)
"""

_COPY = {
    "csv": sql.SQL("COPY ({rows}) TO STDOUT (FORMAT csv, HEADER)"),
    # COPY's text format would double the backslashes of JSON. CSV with a quote and a delimiter that
    # JSON never contains leaves each line as it is.
    "jsonl": sql.SQL("COPY ({rows}) TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"),
}
