"""A watcher who is deleted leaves no home, and stands in nobody's way."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from tests.timelines.feeds.sessions import session
from tests.timelines.feeds.world import bring, built, deliver_all, source, tweet, watcher
from trackers import tasks
from trackers.timelines import feeds, store
from trackers.timelines.homes import Feed, SizedBucket, TimedBucket
from trackers.timelines.models import Follow, Timeline, Watcher
from trackers.timelines.store import Entry

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_home_goes_with_the_user_and_all_others_stay():
    one, me, other = source(), watcher(), watcher()
    for who in (me, other):
        feeds.follow(who, source_id=one)
        built(who)
    Follow.objects.bulk_create(
        Follow(watcher_id=me, origin_id=-n, followed_at="2026-11-01T00:00Z") for n in range(1, 2001)
    )
    bring(one, tweet(1))
    deliver_all()

    User.objects.get(watcher=me).delete()

    assert [line.name for line in Timeline.objects.all()] == [f"home:{other}"]
    for model in (Follow, Feed, TimedBucket, SizedBucket):
        assert set(model.objects.values_list("watcher_id", flat=True)) == {other}, model
    assert feeds.strategies()["cache"].held(other) == [tweet(1)]


def test_a_home_that_a_kill_left_behind_goes_within_the_hour():
    me = watcher()
    for name in (f"home:{me}", f"home:{me + 1}", "home:x", "homes"):
        store.set(name, [Entry(1)])

    tasks.drop_idle_feeds()

    assert set(Timeline.objects.values_list("name", flat=True)) == {f"home:{me}", "home:x", "homes"}


def test_deleting_a_watcher_takes_rows_in_the_order_of_an_unfollow():
    """Which has the follow, and then wants the home."""
    one, me = source(), watcher()
    feeds.follow(me, source_id=one)
    built(me)
    with session() as unfollowing, session() as deleting:
        unfollowing.begin()
        unfollowing.do(lambda: Follow.objects.filter(watcher_id=me).delete())
        deleting.start(lambda: Watcher.objects.get(pk=me).delete())
        deleting.waits()
        unfollowing.do(lambda: list(Feed.objects.select_for_update(no_key=True)))
        unfollowing.commit()
        deleting.end()

    assert not Watcher.objects.exists()
