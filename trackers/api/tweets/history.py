"""A tweet's history in the API: every measurement, or one value for each stretch of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import AwareDatetime

from trackers.api.tweet_bodies import FiguresOut
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.routers import find_tweet, single
from trackers.api.wire.auth import require_permission
from trackers.api.wire.fields import DigitsOut, TimeOut, UnsignedId
from trackers.api.wire.parameters import cursor_of, position_of
from trackers.tweets.buckets import MAX_RUNS_READ, Bucket, buckets
from trackers.tweets.history import Run, RunRange
from trackers.tweets.history import history as read_history
from trackers.tweets.models import METRICS
from tweetwatch.clock_times import iso

_MAX_SAMPLES = 5_000
_BUCKET_LENGTHS = {
    "1m": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
}
BucketLength = Literal["1m", "5m", "15m", "1h", "6h", "1d"]


class SampleOut(FiguresOut):
    """These metrics were measured `measurements` times from `at` until `until`. With `bucket`, they
    are the last ones of the period that begins at `at`, and the other two fields are null."""

    at: TimeOut
    until: TimeOut | None
    measurements: int | None


class HistoryOut(Schema):
    tweet_id: DigitsOut
    samples: list[SampleOut]
    next: str | None
    # What is not among the samples, if something could not be read; else null.
    lacking: str | None


@single.get("/{id}/history", response=HistoryOut)
def history(
    request: HttpRequest,
    id: UnsignedId,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    bucket: BucketLength | None = None,
    limit: Annotated[int, Query(ge=1, le=_MAX_SAMPLES)] = 1_000,
    cursor: str = "",
) -> dict[str, Any]:
    """Oldest first. With `bucket`, the last metrics of each such period (UTC) that has any;
    without it, every measurement."""
    require_permission(request, VIEW)
    if since and until and since >= until:
        raise ValueError("since must be before until.")
    tweet = find_tweet(id)
    of = f"history:{tweet.pk}:{bucket}:{iso(since)}:{iso(until)}"
    position = position_of(cursor, of=of)
    after = datetime.fromisoformat(position) if position else None
    if bucket:
        step = _BUCKET_LENGTHS[bucket]
        # The bucket after the last one: what touches it was perhaps taken before.
        asked = RunRange(max(filter(None, (since, after)), default=None), until)
        rows = read_history(tweet.pk, asked, most=MAX_RUNS_READ)
        samples, next = _as_buckets(rows, step, asked, limit)
    else:
        rows = read_history(tweet.pk, RunRange(since, until, after), most=limit + 1)
        samples = [_sample_json(run) for run in rows[:limit]]
        next = rows[limit - 1].taken_at if len(rows) > limit else None
    return {
        "tweet_id": tweet.pk,
        "samples": samples,
        "next": cursor_of(next.isoformat(), of=of) if next else None,
        "lacking": rows.lacking or None,
    }


def _as_buckets(
    rows: list[Run], step: timedelta, asked: RunRange, limit: int
) -> tuple[list[dict[str, Any]], datetime | None]:
    """The buckets, and where the next one begins, if there may be one."""
    periods = list(islice(buckets(rows, step, asked), limit + 1))
    if len(periods) > limit:
        return [_bucket_json(period) for period in periods[:limit]], periods[limit].at
    if len(rows) == MAX_RUNS_READ and len(periods) > 1:
        # The last one may have more runs, which were not read.
        return [_bucket_json(period) for period in periods[:-1]], periods[-1].at
    return [_bucket_json(period) for period in periods], None


def _bucket_json(bucket: Bucket) -> dict[str, Any]:
    figures = dict(zip(METRICS, bucket.figures, strict=True))
    return {"at": iso(bucket.at), "until": None, "measurements": None, **figures}


def _sample_json(run: Run) -> dict[str, Any]:
    return {
        "at": iso(run.taken_at),
        "until": iso(run.measured_until),
        "measurements": run.measurements,
        **{metric: getattr(run, metric) for metric in METRICS},
    }
