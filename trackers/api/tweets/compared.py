"""Tweets side by side in the API: what each had at the same ages, as last measured by then."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Schema
from pydantic import StringConstraints

from trackers.api.shown import FiguresOut, TweetOut, tweet
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import may
from trackers.api.wire.fields import ids_of
from trackers.api.wire.outgoing import LengthOut, TimeOut, iso
from trackers.schedule.durations import parse
from trackers.tweets.history import Run, histories
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.snowflake import born_at

LEAST, MOST, MOST_AGES = 2, 6, 24
AGES = "15m,1h,6h,24h,7d"
OLDEST = timedelta(days=36500)
Listed = Annotated[str, StringConstraints(max_length=400)]


class AtAgeOut(FiguresOut):
    """What it had at this age; all null when it was not measured by then, or is not so old yet."""

    age: LengthOut
    measured_at: TimeOut | None


class ComparedOut(Schema):
    tweet: TweetOut
    at: list[AtAgeOut]


class CompareOut(Schema):
    tweets: list[ComparedOut]


@many.get("/compare", response=CompareOut)
def compare(request: HttpRequest, ids: Listed, ages: Listed = AGES) -> dict[str, Any]:
    """2 to 6 tweets, by their ids with commas between them, in this order; and up to 24 `ages`."""
    may(request, VIEW)
    wanted, lengths = ids_in(ids), ages_in(ages)
    found = Tweet.objects.select_related("author", "tweettext").in_bulk(wanted)
    if missing := [str(id) for id in wanted if id not in found]:
        raise LookupError(f"Tweet {', '.join(missing)} is not tracked.")
    runs: dict[int, list[Run]] = {id: [] for id in wanted}
    for run in histories(wanted):
        runs[run.tweet_id].append(run)
    return {"tweets": [compared(found[id], runs[id], lengths) for id in wanted]}


def compared(one: Tweet, runs: Sequence[Run], ages: Sequence[timedelta]) -> dict[str, Any]:
    born = one.created_at or born_at(one.pk)
    begun = [run.taken_at for run in runs]
    last = max((run.measured_until for run in runs), default=born)
    rows = []
    for age in ages:
        place = bisect_right(begun, born + age) - 1
        # Younger than that when it was last measured: nobody knows yet.
        run = runs[place] if place >= 0 and last >= born + age else None
        rows.append(
            {
                "age": age,
                "measured_at": iso(min(run.measured_until, born + age)) if run else None,
                **{metric: getattr(run, metric, None) for metric in METRICS},
            }
        )
    return {"tweet": tweet(one), "at": rows}


def ids_in(text: str) -> list[int]:
    ids = ids_of(text)
    if not LEAST <= len(ids) <= MOST:
        raise ValueError(f"ids: {LEAST} to {MOST} different tweets are compared.")
    return ids


def ages_in(text: str) -> list[timedelta]:
    ages = [parse(word) for word in text.split(",")]
    if len(ages) > MOST_AGES or any(not timedelta(0) < age <= OLDEST for age in ages):
        raise ValueError(f"ages: up to {MOST_AGES} lengths of time, as {AGES}.")
    return ages
