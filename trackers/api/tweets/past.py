"""A tweet's history in the API: every measurement, or one value for each stretch of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import AwareDatetime

from trackers.api.shown import FiguresOut
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.found import find
from trackers.api.tweets.routers import single
from trackers.api.wire.auth import may
from trackers.api.wire.cursors import cursor_of, position_of
from trackers.api.wire.fields import Known
from trackers.api.wire.outgoing import DigitsOut, TimeOut
from trackers.tweets.history import Run
from trackers.tweets.models import METRICS
from trackers.tweets.paged import READ_MOST, Asked, Bucket, buckets, runs
from tweetwatch.clock_times import iso

MOST = 5_000
STEPS = {
    "1m": timedelta(minutes=1),
    "5m": timedelta(minutes=5),
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "1d": timedelta(days=1),
}
Step = Literal["1m", "5m", "15m", "1h", "6h", "1d"]


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


@single.get("/{id}/history", response=HistoryOut)
def history(
    request: HttpRequest,
    id: Known,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    bucket: Step | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 1_000,
    cursor: str = "",
) -> dict[str, Any]:
    """Oldest first. With `bucket`, the last metrics of each such period (UTC) that has any;
    without it, every measurement."""
    may(request, VIEW)
    if since and until and since >= until:
        raise ValueError("since must be before until.")
    found = find(id)
    of = f"history:{found.pk}:{bucket}:{iso(since)}:{iso(until)}"
    position = position_of(cursor, of=of)
    after = datetime.fromisoformat(position) if position else None
    if bucket:
        step = STEPS[bucket]
        # The bucket after the last one: what touches it was perhaps taken before.
        asked = Asked(max(filter(None, (since, after)), default=None), until)
        samples, next = thinned(found.pk, step, asked, limit)
    else:
        rows = runs(found.pk, Asked(since, until, after), most=limit + 1)
        samples = [sample(one) for one in rows[:limit]]
        next = rows[limit - 1].taken_at if len(rows) > limit else None
    return {
        "tweet_id": found.pk,
        "samples": samples,
        "next": cursor_of(next.isoformat(), of=of) if next else None,
    }


def thinned(
    id: int, step: timedelta, asked: Asked, limit: int
) -> tuple[list[dict[str, Any]], datetime | None]:
    """The buckets, and where the next one begins, if there may be one."""
    rows = runs(id, asked, most=READ_MOST)
    found = list(islice(buckets(rows, step, asked), limit + 1))
    if len(found) > limit:
        return [of_bucket(one) for one in found[:limit]], found[limit].at
    if len(rows) == READ_MOST and len(found) > 1:
        # The last one may have more runs, which were not read.
        return [of_bucket(one) for one in found[:-1]], found[-1].at
    return [of_bucket(one) for one in found], None


def of_bucket(one: Bucket) -> dict[str, Any]:
    figures = dict(zip(METRICS, one.figures, strict=True))
    return {"at": iso(one.at), "until": None, "measurements": None, **figures}


def sample(one: Run) -> dict[str, Any]:
    return {
        "at": iso(one.taken_at),
        "until": iso(one.measured_until),
        "measurements": one.measurements,
        **{metric: getattr(one, metric) for metric in METRICS},
    }
