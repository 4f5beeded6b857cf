"""All tweets that the list would show, on all of its pages, as the rows of a file.

Five hundred are read at a time: newest first by keyset, other orders by ids that were all read
before. No transaction is open while the file is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

from trackers.listing.query import NEWEST_FIRST, TweetQuery
from trackers.listing.search import Page, load_tweets, next_ids
from trackers.listing.sorts import sorted_parts
from trackers.tweets.finding.direction import Direction
from trackers.tweets.gains.models import Gain
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.tags.tagging import tags_of
from trackers.updater.models import TweetUpdate
from trackers.updater.states import tweet_state
from tweetwatch.tables import Column, Table

ROWS_PER_READ = 500
_EXPORT_COLUMNS = [
    Column("tweet_id", "id"), Column("url", "text"), Column("author_id", "id"),
    Column("author", "text"), Column("created_at", "time"), Column("tracked_at", "time"),
    Column("state", "text"), Column("missing_because", "text"), Column("tags", "text"),
    Column("text", "text"), Column("lang", "text"),
    *(Column(metric, "whole") for metric in METRICS),
    Column("measured_until", "time"), Column("next_check_at", "time"),
]  # fmt: skip
_GAIN_COLUMNS = [
    Column("gain", "whole"), Column("gain_per_hour", "number"),
    Column("gained_since", "time"), Column("gained_until", "time"),
]  # fmt: skip


def tweets_table(query: TweetQuery, *, now: datetime) -> Table:
    """Its first rows are read at once, so that an error in them can still be reported."""
    query = replace(query, before=None, after=None, number=1)
    columns = [*_EXPORT_COLUMNS, *(_GAIN_COLUMNS if query.sort.window else [])]
    rows = _export_rows(query, now=now)
    first = next(rows, None)
    return Table("tweets", columns, rows if first is None else chain([first], rows))


def _export_rows(query: TweetQuery, *, now: datetime) -> Iterator[Sequence[Any]]:
    for page in _export_pages(query, now=now):
        ids = [tweet.pk for tweet in page.tweets]
        jobs, tags = TweetUpdate.objects.in_bulk(ids), tags_of(ids)
        for tweet in page.tweets:
            grown = page.grown.get(tweet.pk)
            cells = _export_row(tweet, jobs.get(tweet.pk), tags.get(tweet.pk, []))
            yield (*cells, *(_gain_cells(grown) if grown else ()))


def _export_pages(query: TweetQuery, *, now: datetime) -> Iterator[Page]:
    if query.sort != NEWEST_FIRST:
        pages = sorted_parts(query, ROWS_PER_READ, now=now)
        if pages is not None:
            yield from pages
            return
    yield from _newest_pages(replace(query, sort=NEWEST_FIRST), now=now)


def _newest_pages(query: TweetQuery, *, now: datetime) -> Iterator[Page]:
    way = Direction()
    while True:
        finds = next_ids(query, way, ROWS_PER_READ + 1, now=now)
        ids, until = finds.ids, finds.until
        # One more than asked for shows that there are more, and where they begin.
        if len(ids) > ROWS_PER_READ:
            ids, until = ids[:ROWS_PER_READ], ids[ROWS_PER_READ - 1]
        there = load_tweets(ids)
        yield Page([there[id] for id in ids if id in there])
        if until is None:
            return
        way = way.on_from(until)


def _export_row(tweet: Tweet, job: TweetUpdate | None, tags: list[str]) -> tuple[Any, ...]:
    text = None if tweet.gone_at else getattr(tweet, "tweettext", None)
    state = tweet_state(tweet, job)
    return (
        tweet.pk, tweet.url, tweet.author_id, tweet.author.username if tweet.author else None,
        tweet.created_at, tweet.tracked_at, state.name, tweet.missing_reason or None,
        ", ".join(tags) or None,
        text and text.text, text and text.lang,
        *(getattr(tweet, metric) for metric in METRICS),
        tweet.measured_until, job.due_at if job and state.is_scheduled else None,
    )  # fmt: skip


def _gain_cells(row: Gain) -> tuple[Any, ...]:
    return row.gain, row.velocity, row.since, row.until
