"""A tweet's history as one value for each stretch of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trackers.tweets.history import Run, RunRange
from trackers.tweets.models import METRICS

_BUCKET_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# How many runs are read for a page of buckets.
MAX_RUNS_READ = 100_000


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
