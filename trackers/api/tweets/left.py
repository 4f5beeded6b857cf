"""What is left of all tweets, or of an import's or a tag's, by year and what X last said."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Schema

from trackers.api.tweets.detail import VIEW
from trackers.api.tweets.filters import Name, PresenceName
from trackers.api.tweets.routers import MAY_BE_MISSING, many
from trackers.api.wire.auth import require_permission
from trackers.api.wire.fields import TimeOut, UnsignedId
from trackers.ingest.files.lookups import lookups_of
from trackers.ingest.files.models import Import
from trackers.tweets.lookups import Lookups
from trackers.tweets.presence import presences
from trackers.tweets.tags.lookups import lookups_of_tag
from trackers.tweets.tags.names import find_tag
from tweetwatch.clock_times import iso


class PresenceOut(Schema):
    """`year`: that of posting in UTC; all up to 2010 are in 2010."""

    year: int
    presence: PresenceName
    tweets: int


class LeftOut(Schema):
    counted_at: TimeOut | None
    left: list[PresenceOut]


@many.get("/left", response=LeftOut, openapi_extra=MAY_BE_MISSING)
def what_is_left(
    request: HttpRequest, source: UnsignedId | None = None, tag: Name = ""
) -> dict[str, Any]:
    """How many tweets X shows, and how many not, the oldest year first. `source`: an import's;
    `tag`: those with this tag; nothing while they are not counted yet. `counted_at`: null if they
    were counted just now."""
    require_permission(request, VIEW)
    if source is None and not tag:
        lookups, counts = None, presences()
    else:
        lookups = _lookups_of(source, tag)
        counts = lookups.presences if lookups else {}
    return {
        "counted_at": iso(lookups.at) if lookups else None,
        "left": [
            {"year": year, "presence": presence, "tweets": tweets}
            for year, by_name in counts.items()
            for presence, tweets in by_name.items()
        ],
    }


def _lookups_of(source: int | None, tag: str) -> Lookups | None:
    if source is not None and tag:
        raise ValueError("Give only one of source and tag.")
    if tag:
        named = find_tag(tag)
        if named is None:
            raise LookupError(f"There is no tag {tag}.")
        return lookups_of_tag(named)
    report = Import.objects.filter(pk=source).first()
    if report is None:
        raise LookupError(f"There is no import {source}.")
    return lookups_of(report)
