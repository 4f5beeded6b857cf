"""What is left of all tweets, or of an import's, by year and by what X last said of them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Schema

from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.filters import PresenceName
from trackers.api.tweets.routers import many
from trackers.api.wire.auth import require_permission
from trackers.api.wire.fields import UnsignedId
from trackers.ingest.files.lookups import lookups_of
from trackers.ingest.files.models import Import
from trackers.tweets.presence import presences


class PresenceOut(Schema):
    """`year`: that of posting in UTC; all up to 2010 are in 2010."""

    year: int
    presence: PresenceName
    tweets: int


class LeftOut(Schema):
    left: list[PresenceOut]


@many.get("/left", response=LeftOut)
def what_is_left(request: HttpRequest, source: UnsignedId | None = None) -> dict[str, Any]:
    """How many tweets X shows, and how many not, the oldest year first. `source`: an import's;
    nothing while its tweets are not counted yet."""
    require_permission(request, VIEW)
    if source is None:
        counts = presences()
    else:
        report = Import.objects.filter(pk=source).first()
        if report is None:
            raise LookupError(f"There is no import {source}.")
        counted = lookups_of(report)
        counts = counted.presences if counted else {}
    return {
        "left": [
            {"year": year, "presence": presence, "tweets": tweets}
            for year, by_name in counts.items()
            for presence, tweets in by_name.items()
        ]
    }
