"""What people would take instead, beside ours on the same homes: reads and deliveries in turn.

To read is to have 50 tweets with their authors; to deliver is to bring 20 tweets of one source into
the homes of all who follow it. The homes are filled with what our caches hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction

from tests.benchmarks.timelines.models import HomeEntry
from trackers.ingest.sources.models import Source
from trackers.timelines import homes
from trackers.timelines.homes.built import Built
from trackers.timelines.models import Follow
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor

PAGE, CAP = 50, 800
# Followers and tweets, as our caches hold them.
HELD = """
    SELECT substr(t.name, 6)::bigint, e.entry_id
    FROM trackers_timeline t JOIN trackers_timelineentry e ON e.timeline_id = t.id
    WHERE t.name LIKE 'home:%' AND e.dead_at IS NULL
    ORDER BY 1, 2
"""
ROWS = f"INSERT INTO rivals_homeentry (follower_id, tweet_id) {HELD}"
# An action for each tweet that a source yielded; who follows accounts besides reads less here.
ACTIONS = """
    INSERT INTO actstream_action (actor_content_type_id, actor_object_id, verb,
        action_object_content_type_id, action_object_object_id, timestamp, public)
    SELECT (SELECT id FROM django_content_type WHERE app_label = 'trackers' AND model = 'source'),
           s.source_id, 'yielded',
           (SELECT id FROM django_content_type WHERE app_label = 'trackers' AND model = 'tweet'),
           s.tweet_id, t.created_at, true
    FROM trackers_sourcetweet s JOIN trackers_tweet t ON t.id = s.tweet_id
"""
FOLLOWS = """
    INSERT INTO actstream_follow (user_id, content_type_id, object_id, actor_only, flag, started)
    SELECT w.user_id,
           (SELECT id FROM django_content_type WHERE app_label = 'trackers' AND model = 'source'),
           f.origin_id, true, '', f.followed_at
    FROM trackers_follow f JOIN trackers_follower w ON w.id = f.follower_id
    WHERE f.origin_id > 0
"""


class Contender(Protocol):
    def deliver(self, origin: int, ids: Sequence[int]) -> None: ...

    def page(self, follower: int) -> list[int]: ...


def fetched(ids: Sequence[int]) -> list[int]:
    """As any view has them: the tweets, with their authors, that are not gone."""
    tweets = Tweet.objects.filter(pk__in=ids, gone_at=None).select_related("author")
    return [tweet.pk for tweet in tweets.order_by("-pk")]


def followers_of(origin: int) -> list[int]:
    return list(Follow.objects.filter(origin_id=origin).values_list("follower_id", flat=True))


class Ours:
    def __init__(self, key: str) -> None:
        self.strategy = homes.strategies()[key]

    def deliver(self, origin: int, ids: Sequence[int]) -> None:
        assert isinstance(self.strategy, Built)
        with transaction.atomic():
            self.strategy.deliver(origin, ids, reach=None)

    def page(self, follower: int) -> list[int]:
        return fetched(self.strategy.page(follower, limit=PAGE).ids)


class Rows:
    """`bulk_create`, and a join."""

    def __init__(self) -> None:
        with cursor() as db:
            db.execute(ROWS, prepare=False)

    def deliver(self, origin: int, ids: Sequence[int]) -> None:
        follower_ids = followers_of(origin)
        entries = [HomeEntry(follower_id=one, tweet_id=id) for id in ids for one in follower_ids]
        HomeEntry.objects.bulk_create(entries, batch_size=5_000, ignore_conflicts=True)

    def page(self, follower: int) -> list[int]:
        entries = HomeEntry.objects.filter(follower_id=follower, tweet__gone_at=None)
        newest = entries.select_related("tweet__author").order_by("-tweet_id")[:PAGE]
        return [entry.tweet.pk for entry in newest]


class Activities:
    """django-activity-stream: an action a tweet, and a user's feed as its documentation says."""

    def __init__(self) -> None:
        with cursor() as db:
            for statement in (ACTIONS, FOLLOWS):
                db.execute(statement, prepare=False)

    def deliver(self, origin: int, ids: Sequence[int]) -> None:
        from actstream import action

        source, tweets = Source.objects.get(pk=origin), Tweet.objects.in_bulk(ids)
        with transaction.atomic():
            for id in ids:
                action.send(source, verb="yielded", action_object=tweets[id])

    def page(self, follower: int) -> list[int]:
        from actstream.models import user_stream

        stream = user_stream(User.objects.get(pk=follower))[:PAGE]
        return [one.action_object.pk for one in stream]


class Redis:
    """As Mastodon: a sorted set a home, cut back to its newest with each delivery."""

    def __init__(self, client: Any) -> None:
        self.client = client
        pipeline = client.pipeline(transaction=False)
        with cursor() as db:
            for number, (follower, id) in enumerate(db.execute(HELD, prepare=False), 1):
                pipeline.zadd(f"home:{follower}", {str(id): id})
                if number % 10_000 == 0:
                    pipeline.execute()
        pipeline.execute()

    def deliver(self, origin: int, ids: Sequence[int]) -> None:
        scores = {str(id): id for id in ids}
        pipeline = self.client.pipeline(transaction=False)
        for follower in followers_of(origin):
            pipeline.zadd(f"home:{follower}", scores)
            pipeline.zremrangebyrank(f"home:{follower}", 0, -CAP - 1)
        pipeline.execute()

    def page(self, follower: int) -> list[int]:
        return fetched([int(id) for id in self.client.zrevrange(f"home:{follower}", 0, PAGE - 1)])


def has_activities() -> bool:
    return apps.is_installed("actstream")
