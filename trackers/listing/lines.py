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

from trackers.listing.search import Page, in_full, some
from trackers.listing.sorts import sorted_parts
from trackers.listing.wanted import NEWEST, Wanted
from trackers.tweets.finding.way import Way
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.movers.models import Mover
from trackers.tweets.tags.tagging import tags_of
from trackers.updater.models import TweetUpdate
from trackers.updater.states import state_of
from tweetwatch.tables import Column, Table

AT_ONCE = 500
COLUMNS = [
    Column("tweet_id", "id"), Column("url", "text"), Column("author_id", "id"),
    Column("author", "text"), Column("created_at", "time"), Column("tracked_at", "time"),
    Column("state", "text"), Column("tags", "text"), Column("text", "text"),
    Column("lang", "text"),
    *(Column(metric, "whole") for metric in METRICS),
    Column("measured_until", "time"), Column("next_check", "time"),
]  # fmt: skip
GAINS = [
    Column("gain", "whole"), Column("gain_per_hour", "number"),
    Column("gained_since", "time"), Column("gained_until", "time"),
]  # fmt: skip


def table(asked: Wanted, *, now: datetime) -> Table:
    """Its first rows are read at once, so that an error in them can still be reported."""
    asked = replace(asked, before=None, after=None, number=1)
    columns = [*COLUMNS, *(GAINS if asked.sort.window else [])]
    rows = lines(asked, now=now)
    first = next(rows, None)
    return Table("tweets", columns, rows if first is None else chain([first], rows))


def lines(asked: Wanted, *, now: datetime) -> Iterator[Sequence[Any]]:
    for found in pages(asked, now=now):
        ids = [tweet.pk for tweet in found.tweets]
        jobs, tags = TweetUpdate.objects.in_bulk(ids), tags_of(ids)
        for tweet in found.tweets:
            grown = found.grown.get(tweet.pk)
            told = line(tweet, jobs.get(tweet.pk), tags.get(tweet.pk, []))
            yield (*told, *(gained(grown) if grown else ()))


def pages(asked: Wanted, *, now: datetime) -> Iterator[Page]:
    if asked.sort != NEWEST:
        found = sorted_parts(asked, AT_ONCE, now=now)
        if found is not None:
            yield from found
            return
    yield from newest(replace(asked, sort=NEWEST), now=now)


def newest(asked: Wanted, *, now: datetime) -> Iterator[Page]:
    way = Way()
    while True:
        found = some(asked, way, AT_ONCE + 1, now=now)
        ids, until = found.ids, found.until
        # One more than asked for shows that there are more, and where they begin.
        if len(ids) > AT_ONCE:
            ids, until = ids[:AT_ONCE], ids[AT_ONCE - 1]
        there = in_full(ids)
        yield Page([there[id] for id in ids if id in there])
        if until is None:
            return
        way = way.on_from(until)


def line(tweet: Tweet, job: TweetUpdate | None, tags: list[str]) -> tuple[Any, ...]:
    text = None if tweet.gone_at else getattr(tweet, "tweettext", None)
    state = state_of(tweet, job)
    return (
        tweet.pk, tweet.url, tweet.author_id, tweet.author.username if tweet.author else None,
        tweet.created_at, tweet.tracked_at, state.name, ", ".join(tags) or None,
        text and text.text, text and text.lang,
        *(getattr(tweet, metric) for metric in METRICS),
        tweet.measured_until, job.due_at if job and state.is_scheduled else None,
    )  # fmt: skip


def gained(mover: Mover) -> tuple[Any, ...]:
    return mover.gain, mover.velocity, mover.since, mover.until
