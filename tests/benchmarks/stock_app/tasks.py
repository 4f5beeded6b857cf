"""The two ways to write it on stock django-q2: a task per tweet, a task per hundred."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

import requests
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from tests.benchmarks.stock_app.models import StockSample, StockTweet

METRICS = {
    "retweets": "retweet_count",
    "replies": "reply_count",
    "likes": "like_count",
    "quotes": "quote_count",
    "bookmarks": "bookmark_count",
    "views": "impression_count",
}
AGAIN = timedelta(seconds=1)


@cache
def session() -> requests.Session:
    """One a process, so that connections are kept."""
    made = requests.Session()
    made.trust_env = False
    made.headers["Authorization"] = "Bearer a-token-of-the-bench"
    return made


def look_up(ids: Sequence[int]) -> dict[int, Mapping[str, int]]:
    if not settings.STOCK_X:
        return {id: made_up(id) for id in ids}
    reply = session().get(
        f"{settings.STOCK_X}/2/tweets",
        params={"ids": ",".join(map(str, ids)), "tweet.fields": "public_metrics"},
        timeout=15,
    )
    reply.raise_for_status()
    return {int(tweet["id"]): tweet["public_metrics"] for tweet in reply.json()["data"]}


def made_up(id: int) -> dict[str, int]:
    now = int(timezone.now().timestamp() * 1000) % 1_000_000_000
    return dict.fromkeys(METRICS.values(), now + id % 7)


def figures(said: Mapping[str, int]) -> dict[str, int]:
    return {ours: said.get(theirs, 0) for ours, theirs in METRICS.items()}


def refresh_one(id: int) -> None:
    """`stock`: get, save, and a sample when something changed."""
    reply = figures(look_up([id])[id])
    now = timezone.now()
    with transaction.atomic():
        tweet = StockTweet.objects.get(pk=id)
        if any(getattr(tweet, name) != value for name, value in reply.items()):
            StockSample.objects.create(tweet=tweet, taken_at=now, **reply)
        take(tweet, reply, now)
        tweet.save(update_fields=["due_at", "measured_at", *METRICS])


def refresh_many(ids: Sequence[int]) -> None:
    """`orm-batch`: the same for a hundred, in bulk."""
    answer = look_up(ids)
    now = timezone.now()
    with transaction.atomic():
        tweets = list(StockTweet.objects.filter(pk__in=ids))
        samples = []
        for tweet in tweets:
            said = figures(answer[tweet.pk])
            if any(getattr(tweet, name) != value for name, value in said.items()):
                samples.append(StockSample(tweet=tweet, taken_at=now, **said))
            take(tweet, said, now)
        StockTweet.objects.bulk_update(tweets, ["due_at", "measured_at", *METRICS])
        StockSample.objects.bulk_create(samples)


def take(tweet: Any, said: Mapping[str, int], now: Any) -> None:
    for name, value in said.items():
        setattr(tweet, name, value)
    tweet.measured_at, tweet.due_at = now, now + AGAIN
