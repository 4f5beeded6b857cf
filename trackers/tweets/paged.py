"""A tweet's history in pages: as it was measured, or one value for each stretch of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trackers.tweets.history import EVERY_RUN, Run
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor

_BUCKET_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# How many runs are read for a page of buckets.
MAX_RUNS_READ = 100_000

_PAGE_OF_RUNS = f"""
    SELECT * FROM ({EVERY_RUN}) AS run
    WHERE tweet_id = %(id)s AND measured_until >= %(since)s::timestamptz
      AND taken_at < %(until)s::timestamptz AND taken_at > %(after)s::timestamptz
    ORDER BY taken_at LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class RunRange:
    """Runs within a time, and only after one of them."""

    since: datetime | None = None  # they end then or later
    until: datetime | None = None  # they begin before
    after: datetime | None = None


def runs(tweet_id: int, asked: RunRange, *, most: int) -> list[Run]:
    """The runs in the order they were taken."""
    params = {
        "id": tweet_id,
        "since": asked.since or "-infinity",
        "until": asked.until or "infinity",
        "after": asked.after or "-infinity",
        "most": most,
    }
    with cursor() as db:
        db.execute(_PAGE_OF_RUNS, params, binary=True)
        return list(map(Run._make, db.fetchall()))


@dataclass(frozen=True, slots=True)
class Bucket:
    """The last metrics within one step from `at` on."""

    at: datetime
    figures: tuple[int | None, ...]


def buckets(measured: Iterable[Run], step: timedelta, asked: RunRange) -> Iterator[Bucket]:
    """The buckets by time. A step in which nothing was measured has none: nothing is filled in.

    The metrics of a run held throughout it, so it has a bucket in each step that it touches.
    """
    open_one: Bucket | None = None
    for run in measured:
        first = max(filter(None, (run.taken_at, asked.since)))
        last = min(filter(None, (run.measured_until, asked.until)))
        at = _bucket_start(first, step)
        while at <= last:
            if open_one and open_one.at < at:
                yield open_one
            open_one = Bucket(at, tuple(getattr(run, metric) for metric in METRICS))
            at += step
    if open_one:
        yield open_one


def _bucket_start(at: datetime, step: timedelta) -> datetime:
    return _BUCKET_EPOCH + (at - _BUCKET_EPOCH) // step * step
