"""Tweets in the API: author, text, and the newest figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ninja import Schema

from trackers.api.wire.outgoing import DigitsOut, TimeOut
from trackers.tweets.models import METRICS, Author, Tweet
from tweetwatch.clock_times import iso


class AuthorOut(Schema):
    """`username` and `name` are empty until X has returned them."""

    id: DigitsOut
    username: str
    name: str


class FiguresOut(Schema):
    """Null: not known."""

    retweets: int | None
    replies: int | None
    likes: int | None
    quotes: int | None
    bookmarks: int | None
    impressions: int | None


class TweetOut(FiguresOut):
    """`text` is null until X has shown it, and again when X no longer does. The metrics were last
    measured at `measured_until`."""

    id: DigitsOut
    author: AuthorOut | None
    text: str | None
    created_at: TimeOut | None
    measured_until: TimeOut | None


def tweets(ids: Sequence[int]) -> list[dict[str, Any]]:
    """In the order of the ids, in one query; untracked ones are left out."""
    found = Tweet.objects.select_related("author", "tweettext").in_bulk(ids)
    return [tweet(found[id]) for id in ids if id in found]


def tweet(one: Tweet) -> dict[str, Any]:
    text = getattr(one, "tweettext", None)
    return {
        "id": str(one.pk),
        "author": None if one.author_id is None else author(one.author, one.author_id),
        "text": text.text if text else None,
        "created_at": iso(one.created_at),
        "measured_until": iso(one.measured_until),
        **{metric: getattr(one, metric) for metric in METRICS},
    }


def author(found: Author | None, id: int) -> dict[str, str]:
    return {
        "id": str(id),
        "username": found.username if found else "",
        "name": found.name if found else "",
    }
