"""What is in a home, whichever way it is computed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from tests.timelines.homes.world import (
    assert_same,
    bring,
    built,
    configure,
    deliver_all,
    follower,
    source,
    tweet,
)
from trackers import tasks
from trackers.arrivals.models import Arrival, Origin, TimelineDelivery
from trackers.ingest.sources import life
from trackers.jobs import queue
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.timelines import deliver, homes, store
from trackers.timelines.models import (
    BuiltHome,
    Follow,
    Follower,
    HomeRebuild,
    SizedBucket,
    Timeline,
)
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

MANY_ARRIVALS = """
    WITH come AS (
        INSERT INTO trackers_arrival (origin_id, number, tweet_id, xid, horizon, came_at)
        SELECT %(origin)s::bigint, nextval('trackers_arrival_number'),
               %(first)s::bigint + (n::bigint << 22), 1, 1, now()
        FROM generate_series(1, %(count)s::int) n
        RETURNING number
    )
    UPDATE trackers_origin SET clock = (SELECT max(number) FROM come) WHERE id = %(origin)s
"""


def test_a_home_has_the_tweets_of_followed_sources_newest_first():
    origin, another, me = source(), source(), follower()
    homes.follow(me, source_id=origin)
    built(me)

    bring(origin, tweet(1), tweet(3))
    bring(another, tweet(2))
    assert assert_same(me) == [tweet(3), tweet(1)]

    deliver_all()
    assert assert_same(me) == [tweet(3), tweet(1)]


def test_a_late_tweet_is_sorted_by_its_own_time():
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    built(me)
    came = [tweet(5), tweet(9), tweet(1), tweet(5, 3), tweet(7), tweet(5, 1), tweet(5, 4), tweet(2)]
    for id in came:
        bring(origin, id)
        deliver_all()

    assert assert_same(me, limit=2) == sorted(came, reverse=True)


def test_young_buckets_with_old_tweets_do_not_end_a_page_early():
    """Each of the sized buckets has one that came late, from before all the others."""
    me = follower()
    configure(bucket_size=10)
    sized = built(me, "sized")["sized"]
    for n in range(30):
        sized.put([me], [tweet(n), *(tweet(50, 10 * n + i) for i in range(9))])

    assert SizedBucket.objects.count() == 30
    ids = sorted(sized.held(me))
    for at in range(0, 300, 7):
        assert sized.older(me, ids[at], 0, 20) == ids[max(at - 20, 0) : at][::-1]
        assert sized.newer(me, ids[at], 20) == ids[at + 1 : at + 21]


def test_a_full_bucket_is_stored_uncompressed():
    """To compress it anew with each tweet took nine tenths of a delivery."""
    me = follower()
    timed = built(me, "timed")["timed"]
    timed.put([me], [tweet(1, n) for n in range(800)])
    timed.put([me], [tweet(1, 800)])

    with cursor() as db:
        told = db.execute(
            "SELECT pg_column_compression(ids), pg_column_size(ids) FROM trackers_timedbucket"
        )
        assert [(how, size >= 8 * 801) for how, size in told] == [(None, True)]
    assert sorted(timed.held(me)) == [tweet(1, n) for n in range(801)]


def test_an_account_without_a_source_can_be_followed():
    origin, me = source(), follower()
    homes.follow(me, author_id=77)
    built(me)

    bring(origin, tweet(1), author=77)
    bring(origin, tweet(2), author=78)
    deliver_all()

    assert assert_same(me) == [tweet(1)]


def test_unfollowing_leaves_what_another_source_brings():
    origin, another, me = source(), source(), follower()
    homes.follow(me, source_id=origin)
    homes.follow(me, source_id=another)
    built(me)
    bring(origin, tweet(1), tweet(2))
    bring(another, tweet(2), tweet(3))
    deliver_all()

    assert homes.unfollow(me, source_id=origin)
    assert assert_same(me) == [tweet(3), tweet(2)]
    assert not homes.unfollow(me, source_id=origin)

    assert homes.follow(me, source_id=origin)
    assert assert_same(me) == [tweet(3), tweet(2), tweet(1)]
    assert not homes.follow(me, source_id=origin)


def test_a_follow_with_more_than_its_backfill_shows_all_of_it():
    origin, another, me = source(), source(), follower()
    configure(follow_backfill=4)
    bring(origin, *(tweet(day) for day in range(20)))
    bring(another, *(tweet(day, 1) for day in range(0, 20, 7)))
    homes.follow(me, source_id=another)
    built(me)

    homes.follow(me, source_id=origin)

    assert len(assert_same(me)) == 23


def test_deleting_untracking_and_removing_reach_every_home_at_once():
    origin, another, me = source(), source(), follower()
    homes.follow(me, source_id=origin)
    homes.follow(me, source_id=another)
    built(me)
    bring(origin, *(tweet(day) for day in range(6)))
    bring(another, tweet(9))
    deliver_all()

    Tweet.objects.filter(pk=tweet(5)).update(gone_at="2026-11-20T00:00Z")
    untrack_tweets([tweet(3)])
    assert assert_same(me) == [tweet(day) for day in (9, 4, 2, 1, 0)]

    Tweet.objects.filter(pk=tweet(5)).update(gone_at=None)
    assert assert_same(me) == [tweet(day) for day in (9, 5, 4, 2, 1, 0)]

    life.remove_sources([origin])
    assert assert_same(me) == [tweet(9)]
    deliver_all()
    assert assert_same(me) == [tweet(9)]
    assert [follow.source_id for follow in Follow.objects.filter(follower_id=me)] == [another]


def test_tweets_with_ids_without_time_are_sorted_by_their_day():
    one, me = source(), follower()
    homes.follow(me, source_id=one)
    built(me)
    bring(one, 20, 1_000_000, 29_000_000_000, tweet(1), (3 << 22) + 29_700_859_247)
    Tweet.objects.filter(pk=1_000_000).update(created_at=datetime(2007, 1, 1, tzinfo=UTC))
    Tweet.objects.filter(pk=29_000_000_000).update(created_at=datetime(2010, 11, 1, tzinfo=UTC))
    deliver_all()

    assert len(assert_same(me)) == 5
    assert len(assert_same(me, limit=1)) == 5


def test_a_source_beyond_the_fanout_limit_is_read_on_demand():
    origin = source()
    followers = [follower() for _ in range(4)]
    configure(fanout_limit=2)
    for me in followers:
        homes.follow(me, source_id=origin)
        built(me)
    bring(origin, tweet(1), tweet(2))

    assert [done.homes for done in deliver_all()] == [2]
    assert [assert_same(me) for me in followers] == [[tweet(2), tweet(1)]] * 4

    configure(fanout_limit=None)
    bring(origin, tweet(3))
    deliver_all()
    assert [len(assert_same(me)) for me in followers] == [3] * 4


def test_after_a_switch_of_strategy_a_home_is_read_until_built_and_says_so():
    one, me = source(), follower()
    homes.follow(me, source_id=one)
    bring(one, tweet(1))
    assert homes.home_page(me).served_by == "read"

    configure(strategy="sized")
    page = homes.home_page(me)
    assert (page.ids, page.served_by, page.complete) == ((tweet(1),), "read(rebuilding)", False)

    homes.rebuild(me)
    page = homes.home_page(me)
    assert (page.ids, page.served_by, page.complete) == ((tweet(1),), "buckets", True)

    configure(bucket_size=60)
    assert not homes.home_page(me).complete


def test_sources_without_followers_record_no_arrivals():
    origin, me = source(), follower()
    bring(origin, tweet(1))
    assert not Arrival.objects.exists()

    homes.follow(me, source_id=origin)
    bring(origin, tweet(2), tweet(3))
    bring(origin, tweet(4))
    assert Arrival.objects.count() == 3
    assert [job.key for job in TimelineDelivery.objects.all()] == [origin]

    homes.unfollow(me, source_id=origin)
    bring(origin, tweet(5))
    assert not Arrival.objects.exists()
    assert not TimelineDelivery.objects.exists()


def test_deleting_a_follower_leaves_no_rows():
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    built(me)
    bring(origin, tweet(1))

    Follower.objects.get(pk=me).delete()
    tasks.drop_idle_homes()
    bring(origin, tweet(2))
    Timeline.objects.all().delete()
    built(me)

    for model in (Follow, Origin, Arrival, TimelineDelivery, BuiltHome, SizedBucket, Timeline):
        assert not model.objects.exists(), model


def test_an_unread_home_is_dropped_and_correct_at_once_on_return():
    origin, me, another = source(), follower(), follower()
    configure(strategy="timed", idle_days=3)
    for who in (me, another):
        homes.follow(who, source_id=origin)
        homes.home_page(who)
        homes.rebuild(who)
    HomeRebuild.objects.all().delete()
    Follower.objects.filter(pk=me).update(read_at=timezone.now() - timedelta(days=4))

    tasks.drop_idle_homes()
    bring(origin, tweet(1))
    assert [done.homes for done in deliver_all()] == [1]

    page = homes.home_page(me)
    assert (page.ids, page.complete) == ((tweet(1),), False)
    assert [job.key for job in HomeRebuild.objects.all()] == [me]
    tasks.rebuild_homes(queue.get("timeline:rebuild"))
    # Whatever else the server does moves the clock on.
    assert replace(homes.home_page(me), clock="") == replace(homes.home_page(another), clock="")


def test_a_switch_of_strategy_during_a_build_builds_the_home_again():
    me = follower()
    configure(strategy="timed")
    homes.home_page(me)
    under_way = queue.get("timeline:rebuild")

    configure(strategy="cache")
    queue.finish(under_way, {})

    assert queue.get("timeline:rebuild").keys == under_way.keys == (me,)


def test_a_cut_cache_is_read_on_below_its_oldest_tweet():
    """A late tweet from below is no proof that all above it are there."""
    origin, me = source(), follower()
    configure(cache_size=50, cache_slack=10)
    homes.follow(me, source_id=origin)
    cache = built(me, "cache")["cache"]
    for n in range(7):
        bring(origin, *(tweet(50, 10 * n + i) for i in range(10)))
        deliver_all()
    bring(origin, tweet(1))
    deliver_all()

    assert len(cache.held(me)) == 51
    assert cache.page(me, limit=20).served_by == "cache"
    assert len(assert_same(me, limit=20)) == 71
    assert cache.page(me, before=tweet(50)).ids == (tweet(1),)


def test_an_expired_cache_is_built_again():
    origin, me = source(), follower()
    homes.follow(me, source_id=origin)
    cache = built(me, "cache")["cache"]
    store.drop(f"home:{me}")
    bring(origin, tweet(1))
    deliver_all()

    page = cache.page(me)
    assert (page.ids, page.served_by, page.complete) == ((tweet(1),), "read(rebuilding)", False)


def test_a_large_import_does_not_delay_a_live_source(monkeypatch):
    # A turn of one page, however fast the machine is.
    monkeypatch.setattr(deliver, "_MAX_TURN_SECONDS", 0)
    import_, live, me = source(), source(), follower()
    for one in (import_, live):
        homes.follow(me, source_id=one)
    built(me, "timed")
    bring(import_, tweet(1))
    with cursor() as db:
        db.execute(MANY_ARRIVALS, {"origin": import_, "first": tweet(2), "count": 2_000})
    bring(live, tweet(3))
    for origin, since in ((import_, timedelta(hours=1)), (live, timedelta(seconds=1))):
        waiting = TimelineDelivery.bucket.objects.filter(keys=[origin])
        waiting.update(due_at=F("due_at") - since)

    delivered = [deliver.deliver(queue.get("timeline:deliver"))[0] for _ in range(2)]

    assert [(one.origin_id, one.is_all) for one in delivered] == [(import_, False), (live, True)]
    assert delivered[0].tweets == deliver.ARRIVALS_PER_TRANSACTION


def test_a_delivery_out_of_time_releases_the_other_sources():
    sources, me = [source() for _ in range(3)], follower()
    for number, one in enumerate(sources):
        homes.follow(me, source_id=one)
        bring(one, tweet(number))
    built(me)
    batch = queue.get("timeline:deliver", 10)
    first, *others = batch.keys
    assert {first, *others} == set(sources)

    [done] = deliver.deliver(batch, deadline=Deadline.after(0))

    assert (done.origin_id, done.is_all) == (first, True)
    waiting = TimelineDelivery.bucket.objects.filter(lease=None, strikes=0)
    assert sorted(waiting.values_list("keys", flat=True)) == sorted([one] for one in others)
    assert {one.origin_id for one in deliver_all()} == set(others)


def test_arrivals_of_an_inactive_source_are_pruned():
    done, live, me = source(), source(), follower()
    for one in (done, live):
        homes.follow(me, source_id=one)
        bring(one, *(tweet(day) for day in range(3)))
    deliver_all()
    bring(live, tweet(5))
    Arrival.objects.update(came_at=timezone.now() - timedelta(days=8))
    bring(live, tweet(6))

    tasks.drop_idle_homes()

    kept = Arrival.objects.order_by("number").values_list("origin_id", "tweet_id")
    assert list(kept) == [(live, tweet(5)), (live, tweet(6))]


def test_invalid_pages_are_refused():
    origin, me = source(), follower()
    for bad in ({"limit": -1}, {"limit": 801}, {"before": -1}, {"before": 1, "after": 2}):
        with pytest.raises(ValueError, match=r"page|id"):
            homes.home_page(me, **bad)
    for ask in (lambda: homes.home_page(me + 1), lambda: homes.home_since(me + 1)):
        with pytest.raises(LookupError):
            ask()
    for ids in ({}, {"source_id": origin, "author_id": 1}, {"source_id": 0}, {"author_id": 2**63}):
        with pytest.raises(ValueError, match=r"is not an id|Either"):
            homes.follow(me, **ids)
    for ids in ((me, origin + 1), (me + 1, origin)):
        with pytest.raises(LookupError):
            homes.follow(ids[0], source_id=ids[1])
    assert homes.home_page(me, limit=0).ids == ()
    assert homes.home_page(me).older is None
