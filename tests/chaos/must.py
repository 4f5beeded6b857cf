"""Which events a tweet's history says must have been published: from its samples and its row alone.

samples, oldest first ─> two next to each other that differ ─> a change ─┬─> an event of `tweets`
                                                                         └─> milestones between them
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import NamedTuple

METRICS = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")
LIKES = METRICS.index("likes")
EPOCH, MS = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)


class Sample(NamedTuple):
    tweet_id: int
    taken_at: datetime
    figures: Sequence[int | None]


def of_histories(
    samples: Iterable[Sample],
    *,
    since: datetime,
    at_least: int,
    milestones: Iterable[tuple[str, int]],
) -> set[str]:
    """Of changes that were measured after `since`; those of `tweets` where the likes are so many.

    `samples` come by tweet, each tweet's in the order of their times.
    """
    known = [(METRICS.index(metric), metric, at) for metric, at in milestones]
    must = set()
    for tweet, series in groupby(samples, key=lambda one: one.tweet_id):
        for before, after in pairwise(series):
            if after.taken_at <= since or before.figures == after.figures:
                continue
            if (after.figures[LIKES] or 0) >= at_least:
                must.add(change(tweet, after.taken_at))
            for place, metric, at in known:
                was, now = before.figures[place], after.figures[place]
                if was is not None and now is not None and was < at <= now:
                    must.add(f"milestones {tweet} {metric} {at}")
    return must


def change(tweet: int, at: datetime) -> str:
    return f"tweets {tweet} {(at - EPOCH) // MS}"
