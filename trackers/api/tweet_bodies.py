"""Tweets in the API: author, text, and the newest figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ninja import Schema

from trackers.api.wire.fields import DigitsOut, TimeOut
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
    views: int | None


class TweetOut(FiguresOut):
    """`text` is null until X has shown it, and again when X no longer does. The metrics were last
    measured at `measured_until`."""

    id: DigitsOut
    author: AuthorOut | None
    text: str | None
    created_at: TimeOut | None
    measured_until: TimeOut | None


def tweets_json(ids: Sequence[int]) -> list[dict[str, Any]]:
    """In the order of the ids, in one query; untracked ones are left out."""
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(ids)
    return [tweet_json(tweets[id]) for id in ids if id in tweets]


def tweet_json(tweet: Tweet) -> dict[str, Any]:
    text = getattr(tweet, "tweettext", None)
    return {
        "id": str(tweet.pk),
        "author": None if tweet.author_id is None else _author_json(tweet.author, tweet.author_id),
        "text": text.text if text else None,
        "created_at": iso(tweet.created_at),
        "measured_until": iso(tweet.measured_until),
        **{metric: getattr(tweet, metric) for metric in METRICS},
    }


def _author_json(author: Author | None, id: int) -> dict[str, str]:
    return {
        "id": str(id),
        "username": author.username if author else "",
        "name": author.name if author else "",
    }
