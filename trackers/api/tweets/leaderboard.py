"""What grows fastest, in the API: the lists that the workers keep every minute."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Schema

from trackers.api.tweet_bodies import TweetOut, tweet_bodies
from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import require_permission
from trackers.api.wire.fields import MetricName, TimeOut
from trackers.tweets.gains.models import Gain, Window
from tweetwatch.clock_times import iso

_MAX_LEADERS = 200
_WINDOWS = {"15m": Window.QUARTER, "1h": Window.HOUR, "24h": Window.DAY}


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


@many.get("/leaderboard", response=LeadersOut)
def leaderboard(
    request: HttpRequest,
    metric: MetricName = "views",
    window: Literal["15m", "1h", "24h"] = "1h",
    by: Literal["gain", "velocity"] = "gain",
    limit: Annotated[int, Query(ge=1, le=_MAX_LEADERS)] = 50,
) -> dict[str, Any]:
    """Highest first. The workers update the lists every minute."""
    require_permission(request, VIEW)
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
