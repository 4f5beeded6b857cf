"""Tweets as files: all that the list would show, on all of its pages, and all that there are.

Of the list, five hundred are read at a time: newest first by keyset, other orders by ids that were
all read before. No transaction is open while such a file is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

from trackers.listing.columns import TWEET_COLUMNS, rows_by_id, tweets_query
from trackers.listing.query import NEWEST_FIRST, TweetQuery
from trackers.listing.search import next_ids
from trackers.listing.sorts import sorted_parts
from trackers.tweets.export import Format, stream_blocks
from trackers.tweets.finding.direction import Direction
from trackers.tweets.gains.models import Gain
from tweetwatch.tables import Column, Table

ROWS_PER_READ = 500
# As in the leaderboard of the API.
_GAIN_COLUMNS = (
    Column("gain", "whole"), Column("velocity", "number"),
    Column("since", "time"), Column("until", "time"),
)  # fmt: skip


def export_tweets(ids: Sequence[int], *, format: Format) -> Iterator[bytes]:
    """These tweets, or all, with their newest metrics; a transaction is open until it is read."""
    return stream_blocks(tweets_query(format), "t.id", ids, format)


def tweets_table(query: TweetQuery, *, now: datetime, view: str = "") -> Table:
    """Named after the view or what is asked for. Its first rows are read at once, so that an error
    in them can still be reported."""
    query = replace(query, before=None, after=None, number=1)
    columns = [*TWEET_COLUMNS, *(_GAIN_COLUMNS if query.sort.window else ())]
    rows = _export_rows(query, now=now)
    first = next(rows, None)
    name = f"tweets {view or query.in_words}"
    return Table(name, columns, rows if first is None else chain([first], rows))


def _export_rows(query: TweetQuery, *, now: datetime) -> Iterator[Sequence[Any]]:
    for ids, grown in _export_parts(query, now=now):
        there = rows_by_id(ids)
        for id in ids:
            if id in there:
                yield (*there[id], *(_gain_cells(grown[id]) if id in grown else ()))


def _export_parts(
    query: TweetQuery, *, now: datetime
) -> Iterator[tuple[Sequence[int], Mapping[int, Gain]]]:
    """Ids in their order, with what they gained if that is the order."""
    if query.sort != NEWEST_FIRST:
        parts = sorted_parts(query, ROWS_PER_READ, now=now)
        if parts is not None:
            yield from parts
            return
    for ids in _newest_ids(replace(query, sort=NEWEST_FIRST), now=now):
        yield ids, {}


def _newest_ids(query: TweetQuery, *, now: datetime) -> Iterator[Sequence[int]]:
    way = Direction()
    while True:
        finds = next_ids(query, way, ROWS_PER_READ + 1, now=now)
        ids, until = finds.ids, finds.until
        # One more than asked for shows that there are more, and where they begin.
        if len(ids) > ROWS_PER_READ:
            ids, until = ids[:ROWS_PER_READ], ids[ROWS_PER_READ - 1]
        yield ids
        if until is None:
            return
        way = way.on_from(until)


def _gain_cells(row: Gain) -> tuple[Any, ...]:
    return row.gain, row.velocity, row.since, row.until
