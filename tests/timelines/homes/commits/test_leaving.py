"""A follower who is deleted leaves no home, and stands in nobody's way."""

import pytest
from django.contrib.auth.models import User

from tests.timelines.homes.sessions import session
from tests.timelines.homes.world import bring, built, deliver_all, follower, source, tweet
from trackers import tasks
from trackers.timelines import homes, store
from trackers.timelines.models import (
    BuiltHome,
    Follow,
    Follower,
    SizedBucket,
    TimedBucket,
    Timeline,
)
from trackers.timelines.store import Entry

pytestmark = pytest.mark.django_db(transaction=True)


def test_deleting_a_user_deletes_only_the_home_of_that_user():
    origin, me, other = source(), follower(), follower()
    for who in (me, other):
        homes.follow(who, source_id=origin)
        built(who)
    Follow.objects.bulk_create(
        Follow(follower_id=me, origin_id=-n, followed_at="2026-11-01T00:00Z")
        for n in range(1, 2001)
    )
    bring(origin, tweet(1))
    deliver_all()

    User.objects.get(follower=me).delete()

    assert [line.name for line in Timeline.objects.all()] == [f"home:{other}"]
    for model in (Follow, BuiltHome, TimedBucket, SizedBucket):
        assert set(model.objects.values_list("follower_id", flat=True)) == {other}, model
    assert homes.strategies()["cache"].held(other) == [tweet(1)]


def test_a_home_orphaned_by_a_kill_is_deleted_within_the_hour():
    me = follower()
    for name in (f"home:{me}", f"home:{me + 1}", "home:x", "homes"):
        store.set(name, [Entry(1)])

    tasks.drop_idle_homes()

    assert set(Timeline.objects.values_list("name", flat=True)) == {f"home:{me}", "home:x", "homes"}


def test_deleting_a_follower_locks_rows_in_the_order_of_an_unfollow():
    """Which has the follow, and then wants the home."""
    one, me = source(), follower()
    homes.follow(me, source_id=one)
    built(me)
    with session() as unfollowing, session() as deleting:
        unfollowing.begin()
        unfollowing.do(lambda: Follow.objects.filter(follower_id=me).delete())
        deleting.start(lambda: Follower.objects.get(pk=me).delete())
        deleting.waits()
        unfollowing.do(lambda: list(BuiltHome.objects.select_for_update(no_key=True)))
        unfollowing.commit()
        deleting.end()

    assert not Follower.objects.exists()
