"""What is known of the tweets that were measured in a month, as Arrow tables, a piece at a time.

A tweet belongs to a month if a sample ended in it, or if its newest one, which is on its own row,
was measured in it or reaches across it: what rests is in no file of samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from trackers.tweets.archive.layout import FileKind, Piece, month_bounds, schema
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS
from trackers.tweets.snowflake import FIRST_WITH_TIME, LARGEST_ID
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

if TYPE_CHECKING:
    import pyarrow

# By the primary key, whatever they are. The limit is a literal, so that the planner knows it.
TWEETS_PER_PIECE = 20_000
_LAST = f"""
    SELECT id FROM trackers_tweet WHERE id > %(after)s
    ORDER BY id OFFSET {TWEETS_PER_PIECE} - 1 LIMIT 1
"""
_OF = """
    t.id > %(after)s AND t.id <= %(last)s
    AND (t.taken_at < %(end)s AND t.measured_until >= %(start)s OR t.id IN (
        SELECT tweet_id FROM trackers_packedsamples
        WHERE tweet_id > %(after)s AND tweet_id <= %(last)s AND month = %(month)s))
"""
_FACTS, _FACTS_OF_SOME = (
    statement(
        __file__,
        "facts",
        chosen=chosen,
        first_with_time=FIRST_WITH_TIME,
        metrics=", ".join(f"t.{metric}" for metric in METRICS),
    )
    for chosen in (_OF, "t.id = ANY(%(ids)s::bigint[])")
)
_KIND_NAMES = {kind.value: kind.name.lower() for kind in PostKind}
_MICROSECOND = timedelta(microseconds=1)


def read_facts(month: date, after: int) -> Piece:
    """Of the next tweets by id, those that were measured in that month."""
    start, end = month_bounds(month)
    with cursor() as db:
        row = db.execute(_LAST, {"after": after}).fetchone()
        last = row[0] if row else LARGEST_ID
        params = {"after": after, "last": last, "month": month, "start": start, "end": end}
        rows = db.execute(_FACTS, params, binary=True).fetchall()
    return Piece(_table(rows), last)


def facts_of(ids: Iterable[int]) -> pyarrow.Table:
    """Of these tweets, whenever they were measured."""
    with cursor() as db:
        return _table(db.execute(_FACTS_OF_SOME, {"ids": array(ids)}, binary=True).fetchall())


def _table(rows: list[tuple[Any, ...]]) -> pyarrow.Table:
    import pyarrow

    columns: dict[str, list[Any]] = {name: [] for name in schema(FileKind.FACTS).names}
    for row in rows:
        *known, kind, came_from, sources, state, taken_at, until, measurements = row[:14]
        lasted_us = None if taken_at is None else (until - taken_at) // _MICROSECOND
        values = (
            *known,
            _KIND_NAMES.get(kind),
            came_from,
            sources,
            state,
            taken_at,
            lasted_us,
            measurements,
            *row[14:],
        )
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    return pyarrow.table(columns, schema=schema(FileKind.FACTS))
