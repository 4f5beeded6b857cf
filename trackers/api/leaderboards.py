"""Leaderboards in the API: of sets of tweets, and of the tweets that grow fastest; from lists that
the workers keep, or of days that were asked for."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema, Status

from trackers.api.tweet_bodies import TweetOut, tweet_bodies
from trackers.api.wire.auth import VIEW_TWEETS, require_permission
from trackers.api.wire.fields import MetricName, SpanOut, TimeOut, ZoneName
from trackers.listing.saved import matches_of_set
from trackers.listing.search_slots import ClientGone, NoFreeSlot
from trackers.notes.models import Note
from trackers.notes.things import names_of
from trackers.rollups.models import RollupKind
from trackers.sets.kinds import find_set, permission_for
from trackers.sets.leaderboards.asked import (
    WITHIN_KINDS,
    AskedBoard,
    TooManyPosts,
    read_leaderboard,
)
from trackers.sets.leaderboards.count import MAX_LISTED, SetRow
from trackers.sets.leaderboards.large import (
    TooManyWaiting,
    find_large,
    listing_of,
    request_large,
)
from trackers.sets.leaderboards.models import LargeLeaderboard
from trackers.sets.leaderboards.rank import ranked
from trackers.sets.periods import Period, TimeSpan, custom_period
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
    """`within`: the set whose posts were counted, null for all tweets. `newest_since`: the view has
    more posts, and only those since then were counted."""

    kind: KindListed
    within: str | None
    period: SpanOut
    period_before: SpanOut
    age: str
    newest_since: TimeOut | None
    sets: list[ListedSetOut]


class CountingOut(Schema):
    """Ask for the list again until it is counted. `posts`: of both periods, null until they are
    found; `problem`: why it cannot be counted."""

    posts: int | None
    counted: int
    problem: str


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


class AskedQuery(Schema):
    """Which list: of a period by its name, or of days; of all tweets, or within a set."""

    period: Literal["24h", "7d", "30d"] | None = None
    since: date | None = None
    until: date | None = None
    zone: ZoneName = "UTC"
    within: Annotated[str, Field(max_length=120)] | None = None


@router.get("/{kind}", response={200: LeaderboardOut, 202: CountingOut})
def leaderboard(
    request: HttpRequest,
    kind: KindListed,
    query: Annotated[AskedQuery, Query()],
    metric: RankedMetric = "views",
    by: Literal["total", "posts", "median", "rate", "above", "change"] = "total",
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
) -> dict[str, Any] | Status:
    """Which sets of a kind have most, beside the period before. Periods are lists that the workers
    make every hour; days, the last one included, and lists within a set, such as `source/3`,
    `tag/7` or `view/2`, are counted at once, up to 20,000 posts. 400 above that, until a POST to
    the same address has it counted; 202 while it is."""
    asked = _asked_board(request, kind, query)
    now = timezone.now()
    try:
        matches = matches_of_set(request, asked.within, now=now) if asked.within else None
        listing = read_leaderboard(asked, now=now, matches=matches)
    except (NoFreeSlot, ClientGone):
        raise Refused(503, "Other searches are running. Try again in a moment.") from None
    except TooManyPosts:
        large = find_large(asked, now=now)
        if large is None:
            raise ValueError(
                "These are more than 20,000 posts: ask for fewer days, or have them counted by a "
                "POST to this address."
            ) from None
        listing = listing_of(large)
        if listing is None:
            return Status(202, _counting_json(large))
    if listing is None:
        raise Refused(503, "This list is not made yet. Workers make it every hour.")
    rows = ranked(listing.rows, by=by, metric=metric, most=limit)
    names = names_of(Note(kind=kind, key=row.key) for row in rows)
    return {
        "kind": kind,
        "within": asked.within.address if asked.within else None,
        "period": _span_json(listing.spans.this),
        "period_before": _span_json(listing.spans.before),
        "age": listing.spans.age,
        "newest_since": iso(listing.newest_since) if listing.newest_since else None,
        "sets": [_set_json(row, names[kind, row.key]) for row in rows if (kind, row.key) in names],
    }


@router.post("/{kind}", response={202: CountingOut})
def request_leaderboard(
    request: HttpRequest, kind: KindListed, query: Annotated[AskedQuery, Query()]
) -> Status:
    """Have a worker count a list of more than 20,000 posts, up to 200,000 within a set. It takes up
    to a minute, and is kept for an hour."""
    asked = _asked_board(request, kind, query)
    try:
        return Status(202, _counting_json(request_large(asked, now=timezone.now())))
    except TooManyWaiting as error:
        raise Refused(503, str(error)) from None


def _asked_board(request: HttpRequest, kind: str, query: AskedQuery) -> AskedBoard:
    require_permission(request, VIEW_TWEETS)
    user = require_permission(request, permission_for(kind))
    within = None
    if query.within:
        of, _, key = query.within.partition("/")
        within = find_set(of, key, user) if of in WITHIN_KINDS else None
        if within is None:
            raise LookupError(f"There is no set {query.within} to list {kind}s of.")
    return AskedBoard(RollupKind[kind.upper()], _period_of(query), within)


def _period_of(query: AskedQuery) -> str | Period:
    if not is_known_zone(query.zone):
        raise ValueError("zone: the name of a time zone, such as Europe/Berlin.")
    if query.since is None and query.until is None:
        return query.period or _PERIOD_IF_NONE
    if query.period or query.since is None or query.until is None:
        raise ValueError("A period has a name, or both since and until.")
    return custom_period(query.since, query.until, ZoneInfo(query.zone), now=timezone.now())


def _counting_json(large: LargeLeaderboard) -> dict[str, Any]:
    return {"posts": large.posts, "counted": large.counted, "problem": large.problem}


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
