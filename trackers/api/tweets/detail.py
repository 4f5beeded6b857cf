"""One tweet in the API: everything that is known of it, and when it is looked up next."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Schema

from trackers.api.tweet_bodies import TweetOut, tweet_bodies
from trackers.api.tweets.routers import find_tweet, single
from trackers.api.wire.auth import require_permission
from trackers.api.wire.fields import DigitsOut, KindName, TimeOut, UnsignedId
from trackers.ingest.sources.models import SourceTweet
from trackers.tweets.finding.named import NAMED_IN
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.tags.tagging import tags_of
from trackers.updater.models import TweetUpdate
from trackers.updater.states import tweet_state
from tweetwatch.clock_times import iso

VIEW = "trackers.view_tweet"
# A tweet has a handful of either.
_MAX_LISTED = 100
_REFERENCES = ("conversation_id", "replied_to", "quoted", "retweeted")


class VersionOut(Schema):
    """`text` is null if X never showed this version, or no longer does."""

    id: DigitsOut
    seen_at: TimeOut | None
    text: str | None


class TweetSourceOut(Schema):
    """A source that brought it; `leaked`: found after the source had read past it."""

    id: DigitsOut
    name: str
    seen_at: TimeOut
    leaked: bool


class LinkOut(Schema):
    """`url` stands in the text, `display_url` is what X shows instead, `address` where it leads."""

    url: str
    display_url: str
    address: str
    of_media: bool


class TweetDetailOut(TweetOut):
    """`state` is as on the page; `reason` may say why."""

    url: str
    state: str
    reason: str
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
    kind: KindName | None
    hashtags: list[str]
    cashtags: list[str]
    mentions: list[str]
    domains: list[str]
    links: list[LinkOut]
    versions: list[VersionOut]
    sources: list[TweetSourceOut]


@single.get("/{id}", response=TweetDetailOut)
def read_tweet(request: HttpRequest, id: UnsignedId) -> dict[str, Any]:
    """By its id, or by the id of one of its versions."""
    require_permission(request, VIEW)
    return _detail_json(find_tweet(id))


def _detail_json(tweet: Tweet) -> dict[str, Any]:
    text = getattr(tweet, "tweettext", None)
    job = TweetUpdate.objects.filter(pk=tweet.pk).first()
    state = tweet_state(tweet, job)
    return {
        **tweet_bodies([tweet])[tweet.pk],
        "url": tweet.url,
        "state": state.name,
        "reason": state.why,
        "next_check_at": iso(job.due_at) if job and state.is_scheduled else None,
        "tracked_at": iso(tweet.tracked_at),
        "came_from": tweet.came_from,
        "paused": tweet.paused,
        "tags": tags_of([tweet.pk]).get(tweet.pk, []),
        "missing_since": iso(tweet.missing_since),
        "gone_at": iso(tweet.gone_at),
        "withheld": tweet.withheld,
        "newest_version": tweet.newest,
        "version_of": tweet.version_of,
        "measured_since": iso(tweet.taken_at),
        "measurements": tweet.measurements,
        "lang": text.lang if text else "",
        **{name: getattr(text, name, None) for name in _REFERENCES},
        "media_keys": (text.media_keys if text else None) or [],
        "kind": PostKind(text.kind).name.lower() if text and text.kind else None,
        **{name: (getattr(text, name, None) or []) for name in NAMED_IN.values()},
        "links": _links_json(text),
        "versions": _versions_json(tweet),
        "sources": _origins_json(tweet),
    }


def _links_json(text: TweetText | None) -> list[dict[str, Any]]:
    return [
        {
            "url": link["url"],
            "display_url": link["display"],
            "address": link["address"],
            "of_media": link["of_media"],
        }
        for link in (text.links if text else None) or []
    ]


def _versions_json(tweet: Tweet) -> list[dict[str, Any]]:
    rows = tweet.versions.order_by("pk")[:_MAX_LISTED] if tweet.newest else ()
    return [
        {"id": version.pk, "seen_at": iso(version.seen_at), "text": version.text}
        for version in rows
    ]


def _origins_json(tweet: Tweet) -> list[dict[str, Any]]:
    rows = SourceTweet.objects.select_related("source").filter(tweet_id=tweet.pk)
    return [
        {
            "id": row.source_id,
            "name": str(row.source),
            "seen_at": iso(row.seen_at),
            "leaked": row.late,
        }
        for row in rows.order_by("seen_at")[:_MAX_LISTED]
    ]
