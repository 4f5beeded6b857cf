"""Where X tells nothing but counts, the save itself goes by the age: by the same rule."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories import TweetFactory
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import intervals
from trackers.schedule.intervals import Plan, Tier
from trackers.tweets.models import Sample, Tweet
from trackers.updater.models import TweetBucket, TweetUpdate
from trackers.updater.save import Judged, save_batch
from trackers.xapi.results import Shown

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
BOUNDS = [60, 3600, 86400]
AGES = st.sampled_from(
    [None, -301, -300, -299, 0, *(bound + step for bound in BOUNDS for step in (-1, 0, 1))]
) | st.integers(-1000, 100_000)
# How long ago it was measured last, in seconds.
LOOKED = st.sampled_from([0, 20, 120, 121, 1200, 1201, 14400, 14401]) | st.integers(0, 20_000)


def plan_of(tiers):
    every = (timedelta(seconds=seconds) for seconds in (60, 600, 7200))
    bounds = (timedelta(seconds=bound) for bound in BOUNDS)
    return Plan(tuple(Tier(*both) for both in zip(bounds, every, strict=True))[:tiers])


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(AGES, LOOKED), min_size=1, max_size=20), st.integers(0, 3))
def test_next_check_and_end_of_a_sample_equal_those_of_the_rule(given_ages, tiers):
    now, plan = intervals.current()[0], plan_of(tiers)
    Tweet.objects.all().delete()
    Sample.objects.all().delete()
    TweetUpdate.objects.all().delete()
    tweets = {}
    for id, (age, looked) in enumerate(given_ages, 1):
        born = None if age is None else now - age * SECOND
        at = now - looked * SECOND
        tweets[id] = TweetFactory(
            id=id, created_at=born, measurements=1, taken_at=at, measured_until=at, likes=5
        )
        queue.schedule(TWEET_UPDATE, id, timedelta(0))
    batch = queue.get(TWEET_UPDATE, 100)
    counts = [[5 if name == "likes" else 0] * len(tweets) for name in ORDER]
    Tweet.objects.update(retweets=0, replies=0, quotes=0, bookmarks=0, views=0)

    saved = save_batch(batch, [Judged(Shown(batch.keys, counts, None), at=now)], plan)

    assert saved.ours == tweets.keys()
    assert saved.changed == 0
    jobs = {job.key: job for job in TweetUpdate.objects.all()}
    for id, tweet in tweets.items():
        tier = plan.tier(tweet.created_at, now=now)
        assert (id in jobs) == (tier is not None)
        if tier:
            assert jobs[id].due_at == now + tier.every
            assert jobs[id].urgent == plan.is_urgent(tier)
        after = plan.hole_after(tier)
        is_hole = after is None or now > tweet.measured_until + after
        assert Tweet.objects.get(id=id).measurements == (1 if is_hole else 2)
        assert Sample.objects.filter(tweet_id=id).count() == is_hole


ORDER = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")


def test_jitter_moves_all_next_checks_of_a_tier_together():
    now, plan = intervals.current()[0], Plan((Tier(timedelta(days=1), 1000 * SECOND, 0.2),))
    for id in range(1, 101):
        TweetFactory(id=id, created_at=now)
    queue.schedule_many(TWEET_UPDATE, [(id, timedelta(0)) for id in range(1, 101)])
    while batch := queue.get(TWEET_UPDATE, 5):
        save_batch(batch, [Judged(Shown(batch.keys, [[0] * 5] * 6, None), at=now)], plan)

    waits = {(due - now) / SECOND for due in TweetUpdate.objects.values_list("due_at", flat=True)}
    assert len(waits) == 20
    assert {len(bucket.keys) for bucket in TweetBucket.objects.all()} == {5}
    assert min(waits) >= 800
    assert max(waits) <= 1200
    assert max(waits) - min(waits) > 100
