"""Leaderboards in the API: of sets of tweets, and of the tweets that grow fastest; from lists that
the workers keep, or of days that were asked for."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Schema

from trackers.api.tweet_bodies import TweetOut, tweet_bodies
from trackers.api.wire.auth import VIEW_TWEETS, require_permission
from trackers.api.wire.fields import MetricName, SpanOut, TimeOut, ZoneName
from trackers.notes.models import Note
from trackers.notes.things import names_of
from trackers.rollups.models import RollupKind
from trackers.sets.kinds import permission_for
from trackers.sets.leaderboards.count import MAX_LISTED, SetRow
from trackers.sets.leaderboards.rank import ranked
from trackers.sets.leaderboards.update import (
    MAX_POSTS,
    Listing,
    TooManyPosts,
    count_days,
    read_leaderboard,
)
from trackers.sets.periods import TimeSpan, custom_period
from trackers.tweets.gains.models import Gain, Window
from tweetwatch.clock_times import iso
from tweetwatch.http.refusals import Refused
from tweetwatch.notation import is_known_zone

router = Router(tags=["leaderboards"])
_MAX_LEADERS = 200
_WINDOWS = {"15m": Window.QUARTER, "1h": Window.HOUR, "24h": Window.DAY}
_PERIOD_IF_NONE = "7d"
KindListed = Literal["author", "source", "tag", "hashtag", "domain", "language"]
RankedMetric = Literal["views", "likes", "retweets"]


class LeaderOut(Schema):
    """The gain between two measurements, at `since` and `until`; `velocity` is per hour of that
    stretch, or of five minutes if it is shorter."""

    tweet: TweetOut
    gain: int
    velocity: float
    since: TimeOut
    until: TimeOut


class LeadersOut(Schema):
    leaders: list[LeaderOut]


class ListedSetOut(Schema):
    """Of `posts`, `old_enough` have reached the age, and of `measured` the metrics are known there.
    `total`, `total_before` and `median` by metric, the median about 17 % right; `rate`: engagements
    ÷ views; `above`: the share of the `scored` posts with at least twice what is usual. Null: not
    known, or of fewer than five posts."""

    key: str
    name: str
    posts: int
    posts_before: int
    old_enough: int
    measured: int
    total: dict[RankedMetric, int | None]
    total_before: dict[RankedMetric, int | None]
    median: dict[RankedMetric, float | None]
    rate: float | None
    scored: int
    above: float | None


class LeaderboardOut(Schema):
    kind: KindListed
    period: SpanOut
    period_before: SpanOut
    age: str
    sets: list[ListedSetOut]


@router.get("/tweets", response=LeadersOut)
def fastest_tweets(
    request: HttpRequest,
    metric: MetricName = "views",
    window: Literal["15m", "1h", "24h"] = "1h",
    by: Literal["gain", "velocity"] = "gain",
    limit: Annotated[int, Query(ge=1, le=_MAX_LEADERS)] = 50,
) -> dict[str, Any]:
    """What grows fastest, highest first. The workers update the lists every minute."""
    require_permission(request, VIEW_TWEETS)
    rows = Gain.objects.fastest(_WINDOWS[window], metric, by=by)[:limit]
    bodies = tweet_bodies([row.tweet for row in rows])
    return {
        "leaders": [
            {
                "tweet": bodies[row.tweet_id],
                "gain": row.gain,
                "velocity": row.velocity,
                "since": iso(row.since),
                "until": iso(row.until),
            }
            for row in rows
        ]
    }


@router.get("/{kind}", response=LeaderboardOut)
def leaderboard(
    request: HttpRequest,
    kind: KindListed,
    period: Literal["24h", "7d", "30d"] | None = None,
    since: date | None = None,
    until: date | None = None,
    zone: ZoneName = "UTC",
    metric: RankedMetric = "views",
    by: Literal["total", "posts", "median", "rate", "above", "change"] = "total",
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
) -> dict[str, Any]:
    """Which sets of a kind have most, beside the period before. Periods are lists that the workers
    make every hour; days, the last one included, are counted at once, up to 20,000 posts."""
    require_permission(request, VIEW_TWEETS)
    require_permission(request, permission_for(kind))
    listing = _listing(RollupKind[kind.upper()], period, since, until, zone)
    rows = ranked(listing.rows, by=by, metric=metric, most=limit)
    names = names_of(Note(kind=kind, key=row.key) for row in rows)
    return {
        "kind": kind,
        "period": _span_json(listing.this),
        "period_before": _span_json(listing.before),
        "age": listing.age,
        "sets": [_set_json(row, names[kind, row.key]) for row in rows if (kind, row.key) in names],
    }


def _listing(
    kind: RollupKind, name: str | None, since: date | None, until: date | None, zone: str
) -> Listing:
    if not is_known_zone(zone):
        raise ValueError("zone: the name of a time zone, such as Europe/Berlin.")
    if since is None and until is None:
        listing = read_leaderboard(kind, name or _PERIOD_IF_NONE, now=timezone.now())
        if listing is None:
            raise Refused(503, "This list is not made yet. Workers make it every hour.")
        return listing
    if name or since is None or until is None:
        raise ValueError("A period has a name, or both since and until.")
    period = custom_period(since, until, ZoneInfo(zone), now=timezone.now())
    try:
        return count_days(kind, period)
    except TooManyPosts as error:
        raise ValueError(
            f"These days and those before have {error.posts:,} posts, and up to {MAX_POSTS:,} are "
            "counted at once: ask for fewer days, or for a period."
        ) from None


def _span_json(span: TimeSpan) -> dict[str, str | None]:
    return {"since": iso(span.since), "until": iso(span.until)}


def _set_json(row: SetRow, name: str) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": name,
        "posts": row.posts,
        "posts_before": row.posts_before,
        "old_enough": row.old,
        "measured": row.measured,
        "total": row.totals,
        "total_before": row.before,
        "median": row.medians,
        "rate": row.rate,
        "scored": row.scored,
        "above": row.above,
    }
