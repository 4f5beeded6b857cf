"""Tweets side by side in the API: what each had at the same ages, as its page reads it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Schema
from pydantic import StringConstraints

from trackers.api.tweet_bodies import FiguresOut, TweetOut, tweet_bodies
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.routers import MAY_BE_MISSING, many
from trackers.api.wire.auth import require_permission
from trackers.api.wire.fields import LengthOut, TimeOut, ids_of
from trackers.schedule.durations import parse
from trackers.tweets.growth.at_ages import Born, CountsAtAge
from trackers.tweets.growth.lines import lines_by_age
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.snowflake import born_at
from tweetwatch.clock_times import iso

_MIN_COMPARED, _MAX_COMPARED, _MAX_AGES = 2, 6, 24
_DEFAULT_AGES = "15m,1h,6h,24h,7d"
_MAX_AGE = timedelta(days=36500)
CommaSeparated = Annotated[str, StringConstraints(max_length=400)]


class AtAgeOut(FiguresOut):
    """Its metrics at this age, as last measured by then; all null if it was not measured around
    that age, or has not reached it."""

    age: LengthOut
    measured_at: TimeOut | None


class ComparedOut(Schema):
    tweet: TweetOut
    at: list[AtAgeOut]


class CompareOut(Schema):
    tweets: list[ComparedOut]
    # What is not among them, if something could not be read; else null.
    lacking: str | None


@many.get("/compare", response=CompareOut, openapi_extra=MAY_BE_MISSING)
def compare(
    request: HttpRequest, ids: CommaSeparated, ages: CommaSeparated = _DEFAULT_AGES
) -> dict[str, Any]:
    """2 to 6 tweets by comma-separated ids, in this order, at up to 24 `ages`."""
    require_permission(request, VIEW)
    wanted, lengths = _ids_in(ids), _ages_in(ages)
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(wanted)
    if missing := [str(id) for id in wanted if id not in tweets]:
        raise LookupError(f"Tweet {', '.join(missing)} is not tracked.")
    born = {id: Born(id, one.created_at or born_at(id)) for id, one in tweets.items()}
    drawn = lines_by_age(born.values(), sorted(set(lengths)), now=timezone.now())
    near = {
        id: [one for one in some if one.is_near(born[id].at)] for id, some in drawn.readings.items()
    }
    bodies = tweet_bodies([*tweets.values()])
    return {
        "tweets": [_compared_json(bodies[id], near[id], lengths) for id in wanted],
        "lacking": drawn.lacking or None,
    }


def _compared_json(
    body: dict[str, Any], readings: Sequence[CountsAtAge], ages: Sequence[timedelta]
) -> dict[str, Any]:
    """`readings`: by age, of those ages alone that it had reached and that were measured before."""
    at = {reading.age: reading for reading in readings}
    return {"tweet": body, "at": [_at_age_json(age, at.get(age)) for age in ages]}


def _at_age_json(age: timedelta, reading: CountsAtAge | None) -> dict[str, Any]:
    if reading is None:
        return {"age": age, "measured_at": None, **dict.fromkeys(METRICS)}
    figures = dict(zip(METRICS, reading.counts, strict=True))
    return {"age": age, "measured_at": iso(reading.measured_at), **figures}


def _ids_in(text: str) -> list[int]:
    ids = ids_of(text)
    if not _MIN_COMPARED <= len(ids) <= _MAX_COMPARED:
        raise ValueError(f"ids: {_MIN_COMPARED} to {_MAX_COMPARED} different tweets are compared.")
    return ids


def _ages_in(text: str) -> list[timedelta]:
    ages = [parse(word) for word in text.split(",")]
    if len(ages) > _MAX_AGES or any(not timedelta(0) < age <= _MAX_AGE for age in ages):
        raise ValueError(f"ages: up to {_MAX_AGES} durations, such as {_DEFAULT_AGES}.")
    return ages
