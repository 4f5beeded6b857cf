"""What grows fastest, in the API: the lists that the workers keep every minute."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Schema

from trackers.api.shown import TweetOut, tweet
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import may
from trackers.api.wire.outgoing import TimeOut
from trackers.tweets.movers.models import Mover, Window
from tweetwatch.clock_times import iso

MOST = 200
WINDOWS = {"15m": Window.QUARTER, "1h": Window.HOUR, "24h": Window.DAY}
Metric = Literal["retweets", "replies", "likes", "quotes", "bookmarks", "impressions"]


class LeaderOut(Schema):
    """The gain between two measurements, at `since` and `until`; `velocity` is per hour."""

    tweet: TweetOut
    gain: int
    velocity: float
    since: TimeOut
    until: TimeOut


class LeadersOut(Schema):
    leaders: list[LeaderOut]


@many.get("/leaderboard", response=LeadersOut)
def leaderboard(
    request: HttpRequest,
    metric: Metric = "impressions",
    window: Literal["15m", "1h", "24h"] = "1h",
    by: Literal["gain", "velocity"] = "velocity",
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> dict[str, Any]:
    """Fastest first. The workers update the lists every minute."""
    may(request, VIEW)
    found = Mover.objects.fastest(WINDOWS[window], metric, by=by)[:limit]
    return {
        "leaders": [
            {
                "tweet": tweet(one.tweet),
                "gain": one.gain,
                "velocity": one.velocity,
                "since": iso(one.since),
                "until": iso(one.until),
            }
            for one in found
        ]
    }
