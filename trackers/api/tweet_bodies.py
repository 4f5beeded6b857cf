"""Tweets in the API: author, text, and the newest figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ninja import Schema

from trackers.api.wire.fields import DigitsOut, KindName, MetricName, TimeOut
from trackers.scores.read import Scored, scores_of
from trackers.tweets.engagement import engagement_rate
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


class ScoreOut(Schema):
    """`score`: how many times what is `expected` at this age, by `posts` of the author; below it
    turned round and negative: -2 is half. Both are null for fewer than ten posts. `kind`: which
    kind of posts; null: all kinds."""

    score: float | None
    expected: float | None
    posts: int
    kind: KindName | None


class TweetOut(FiguresOut):
    """`text` is null until X has shown it, and again when X no longer does. The metrics were last
    measured at `measured_until`; so were `scores`, by metric. `engagement_rate`: likes, retweets,
    replies, quotes and bookmarks ÷ views, from 100 views on."""

    id: DigitsOut
    author: AuthorOut | None
    text: str | None
    created_at: TimeOut | None
    measured_until: TimeOut | None
    engagement_rate: float | None
    scores: dict[MetricName, ScoreOut]


def tweets_json(ids: Sequence[int]) -> list[dict[str, Any]]:
    """In the order of the ids; untracked ones are left out."""
    tweets = Tweet.objects.select_related("author", "tweettext").in_bulk(ids)
    bodies = tweet_bodies([*tweets.values()])
    return [bodies[id] for id in ids if id in bodies]


def tweet_bodies(tweets: Sequence[Tweet]) -> dict[int, dict[str, Any]]:
    """As TweetOut, by id; one query for the scores of all."""
    scores = scores_of(tweet.pk for tweet in tweets)
    return {tweet.pk: _tweet_json(tweet, scores[tweet.pk]) for tweet in tweets}


def _tweet_json(tweet: Tweet, scores: Mapping[str, Scored]) -> dict[str, Any]:
    text = getattr(tweet, "tweettext", None)
    return {
        "id": str(tweet.pk),
        "author": None if tweet.author_id is None else _author_json(tweet.author, tweet.author_id),
        "text": text.text if text else None,
        "created_at": iso(tweet.created_at),
        "measured_until": iso(tweet.measured_until),
        **{metric: getattr(tweet, metric) for metric in METRICS},
        "engagement_rate": engagement_rate(tweet),
        "scores": {metric: _score_json(scored) for metric, scored in scores.items()},
    }


def _score_json(scored: Scored) -> dict[str, Any]:
    return {
        "score": _rounded(scored.score),
        "expected": _rounded(scored.expected),
        "posts": scored.posts,
        "kind": scored.kind.name.lower() if scored.kind else None,
    }


def _author_json(author: Author | None, id: int) -> dict[str, str]:
    return {
        "id": str(id),
        "username": author.username if author else "",
        "name": author.name if author else "",
    }


def _rounded(number: float | None) -> float | None:
    """A mean of some posts claims no more."""
    return None if number is None else round(number, 2)
