"""Samples as lines, and the rows of any query, streamed from the database: memory does not grow
with their number.

COPY ... TO STDOUT on a snapshot of its own ─> JSONL or CSV, in blocks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from django.db import transaction
from psycopg import sql

from trackers.tweets.history import EVERY_RUN
from trackers.tweets.models import METRICS
from tweetwatch.database import Cursor, cursor
from tweetwatch.tables import Column

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


def export_samples(ids: Sequence[int], *, format: Format) -> Iterator[bytes]:
    """Every sample of these tweets, by tweet and time; without ids, of all tweets, unordered."""
    query = SAMPLE_ROWS if format == "csv" else SAMPLE_LINES
    return stream_blocks(query, "run.tweet_id", ids, format)


def stream_blocks(query: str, column: str, ids: Sequence[int], format: Format) -> Iterator[bytes]:
    """Blocks of whole lines. Holds a transaction for as long as the caller reads."""
    chosen = sql.SQL("true")
    if ids:
        chosen = sql.SQL("{} = ANY({})").format(sql.SQL(column), sql.Literal(list(ids)))  # type: ignore[assignment]
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
