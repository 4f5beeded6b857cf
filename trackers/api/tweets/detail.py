"""One tweet in the API: everything that is known of it, and when it is looked up next."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Schema

from trackers.api.shown import TweetOut, tweet
from trackers.api.tweets.found import find
from trackers.api.tweets.routers import single
from trackers.api.wire.auth import may
from trackers.api.wire.fields import Known
from trackers.api.wire.outgoing import DigitsOut, TimeOut
from trackers.ingest.sources.models import SourceTweet
from trackers.tweets.models import Tweet
from trackers.tweets.tags.tagging import tags_of
from trackers.updater.models import TweetUpdate
from trackers.updater.states import state_of
from tweetwatch.clock_times import iso

VIEW = "trackers.view_tweet"
# A tweet has a handful of either.
MOST = 100
REFERENCES = ("conversation_id", "replied_to", "quoted", "retweeted")


class VersionOut(Schema):
    """`text` is null if X never showed this version, or no longer does."""

    id: DigitsOut
    seen_at: TimeOut | None
    text: str | None


class OriginOut(Schema):
    """A source that brought it; `late`: found after the source had read past it."""

    id: DigitsOut
    name: str
    seen_at: TimeOut
    late: bool


class TweetDetailOut(TweetOut):
    """`state` is as on the page; `because` may say why."""

    url: str
    state: str
    because: str
    next_check_at: TimeOut | None
    tracked_at: TimeOut
    came_from: str
    paused: bool
    tags: list[str]
    missing_since: TimeOut | None
    gone_at: TimeOut | None
    withheld: str
    newest_version: DigitsOut | None
    version_of: DigitsOut | None
    measured_since: TimeOut | None
    measurements: int
    lang: str
    conversation_id: DigitsOut | None
    replied_to: DigitsOut | None
    quoted: DigitsOut | None
    retweeted: DigitsOut | None
    media_keys: list[str]
    versions: list[VersionOut]
    sources: list[OriginOut]


@single.get("/{id}", response=TweetDetailOut)
def read_tweet(request: HttpRequest, id: Known) -> dict[str, Any]:
    """By its id, or by the id of one of its versions."""
    may(request, VIEW)
    return detailed(find(id))


def detailed(found: Tweet) -> dict[str, Any]:
    text = getattr(found, "tweettext", None)
    job = TweetUpdate.objects.filter(pk=found.pk).first()
    state = state_of(found, job)
    return {
        **tweet(found),
        "url": found.url,
        "state": state.name,
        "because": state.why,
        "next_check_at": iso(job.due_at) if job and state.is_scheduled else None,
        "tracked_at": iso(found.tracked_at),
        "came_from": found.came_from,
        "paused": found.paused,
        "tags": tags_of([found.pk]).get(found.pk, []),
        "missing_since": iso(found.missing_since),
        "gone_at": iso(found.gone_at),
        "withheld": found.withheld,
        "newest_version": found.newest,
        "version_of": found.version_of,
        "measured_since": iso(found.taken_at),
        "measurements": found.measurements,
        "lang": text.lang if text else "",
        **{name: getattr(text, name, None) for name in REFERENCES},
        "media_keys": (text.media_keys if text else None) or [],
        "versions": versions(found),
        "sources": origins(found),
    }


def versions(found: Tweet) -> list[dict[str, Any]]:
    rows = found.versions.order_by("pk")[:MOST] if found.newest else ()
    return [{"id": one.pk, "seen_at": iso(one.seen_at), "text": one.text} for one in rows]


def origins(found: Tweet) -> list[dict[str, Any]]:
    rows = SourceTweet.objects.select_related("source").filter(tweet_id=found.pk)
    return [
        {
            "id": one.source_id,
            "name": str(one.source),
            "seen_at": iso(one.seen_at),
            "late": one.late,
        }
        for one in rows.order_by("seen_at")[:MOST]
    ]
