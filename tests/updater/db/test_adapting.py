"""Where an interval adapts, the save notes the pace, and plans the next look by it."""

import math
import random
from datetime import timedelta

import pytest

from tests.factories import TweetFactory
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import intervals
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.intervals import Plan, Tier
from trackers.tweets.models import Tweet
from trackers.tweets.pace import pace, strangers_pace
from trackers.updater.models import TweetUpdate
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict
from trackers.xapi.results import Figures, Shown

SECOND = timedelta(seconds=1)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
YOUNG, OLD = Bounds(0.05, 20, 900), Bounds(0.05, 300, 86400)


def plan_of(stretch=1.0, jitter=0.0):
    return Plan(
        (
            Tier(HOUR, SECOND, jitter, YOUNG),
            Tier(DAY, HOUR, jitter),
            Tier(30 * DAY, SECOND, jitter, OLD),
        ),
        stretch,
    )


def claimed(*ids):
    queue.schedule_many(TWEET_UPDATE, [(id, timedelta(0)) for id in ids])
    batch = queue.get(TWEET_UPDATE, 1000)
    assert set(batch.keys) == set(ids)
    return batch


def answer_for(batch, **counts):
    order = ("retweets", "replies", "likes", "quotes", "bookmarks", "views")
    return Shown(batch.keys, [[counts.get(name, 0)] * len(batch.keys) for name in order], None)


def waits(now):
    rows = TweetUpdate.objects.values_list("key", "due_at")
    return {key: (due_at - now).total_seconds() for key, due_at in rows}


@pytest.mark.parametrize("stretch", [1.0, 2.5])
def test_saved_pace_and_wait_equal_those_of_the_rule(stretch):
    chance = random.Random(5)
    now, plan = intervals.current()[0], plan_of(stretch)
    tweets = {}
    for id in range(1, 101):
        age = math.exp(chance.uniform(3, math.log(29 * 86400)))
        gap = min(age, math.exp(chance.uniform(0, 10)))
        at = now - gap * SECOND
        tweets[id] = TweetFactory(
            id=id,
            created_at=now - age * SECOND,
            measurements=chance.choice([0, 3]),
            taken_at=at,
            measured_until=at,
            views=chance.randrange(10**5),
            likes=chance.randrange(100),
            retweets=chance.choice([None, 7]),
            pace=chance.choice([None, 1e-4, math.nan]),
        )
    batch = claimed(*tweets)

    save_batch(batch, [Judged(answer_for(batch, views=2000, likes=50), at=now)], plan)

    planned = waits(now)
    for id, tweet in tweets.items():
        age = (now - tweet.created_at).total_seconds()
        measured = tweet.measurements > 0
        expected = pace(
            age,
            (tweet.measured_until - tweet.created_at).total_seconds() if measured else None,
            (tweet.views, tweet.likes, tweet.retweets),
            (2000, 50, 0),
            tweet.pace,
        )
        assert Tweet.objects.get(id=id).pace == pytest.approx(expected, rel=1e-4)
        tier = plan.tier(tweet.created_at, now=now)
        wait = adapted_wait(age, expected, tier.bounds, stretch) if tier.bounds else 3600
        # In whole seconds of the clock, up; a slow machine saves later than `now`.
        assert wait - 0.01 * wait <= planned[id] <= wait * 1.01 + 60


def test_jitter_spreads_each_tweet():
    now = intervals.current()[0]
    for id in range(1, 101):
        TweetFactory(id=id, created_at=now - 10 * DAY)
    batch = claimed(*range(1, 101))

    save_batch(batch, [Judged(answer_for(batch), at=now)], plan_of(jitter=0.2))

    age = 10 * 86400.0
    usual = adapted_wait(age, strangers_pace(age), OLD)
    found = waits(now).values()
    assert len(set(found)) > 50
    assert min(found) < 0.9 * usual
    assert max(found) > 1.1 * usual


def test_a_first_look_up_uses_the_time_of_the_id():
    """X has not told yet when it was posted: the tweet's row has no time."""
    now = intervals.current()[0]
    id = (int(now.timestamp() * 1000) - 60_000 - 1288834974657) << 22
    TweetFactory(id=id, created_at=None)
    batch = claimed(id)
    verdict = Verdict(id, 900 * SECOND, Figures(3, 0, 30, 0, 0, 3000), 1800 * SECOND)

    save_batch(batch, [Judged([verdict], at=now)], plan_of())

    expected = adapted_wait(60, pace(60, None, (0, 0, 0), (3000, 30, 3), None), YOUNG)
    assert expected - 1 <= waits(now)[id] <= expected + 60


def test_an_earlier_verdict_is_kept():
    """An edit is looked at again within seconds, and a tweet that is too old rests."""
    now = intervals.current()[0]
    for id in (1, 2):
        TweetFactory(id=id, created_at=now - 10 * DAY)
    batch = claimed(1, 2)
    figures = Figures(0, 0, 0, 0, 0, 0)

    save_batch(
        batch,
        [Judged([Verdict(1, 5 * SECOND, figures), Verdict(2, None, figures)], at=now)],
        plan_of(),
    )

    assert waits(now).keys() == {1}
    assert waits(now)[1] < 60


@pytest.mark.parametrize("late", ["its lease was over", "a newer measurement came first"])
def test_a_late_save_writes_no_pace(late):
    now, plan = intervals.current()[0], plan_of()
    TweetFactory(id=1, created_at=now - HOUR, measurements=0)
    batch = claimed(1)
    save_batch(batch, [Judged(answer_for(batch, likes=5), now)], plan)
    known = Tweet.objects.get().pace
    if late == "a newer measurement came first":
        batch = claimed(1)

    saved = save_batch(batch, [Judged(answer_for(batch, likes=5000), now - 60 * SECOND)], plan)

    assert bool(saved.ours) == (late == "a newer measurement came first")
    assert Tweet.objects.get().pace == known > 0
    assert Tweet.objects.get().likes == 5
