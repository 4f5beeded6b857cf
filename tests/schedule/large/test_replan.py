"""After the intervals changed: the SQL says what the pure rule says."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories import IntervalFactory, TweetFactory, TweetUpdateFactory
from trackers.jobs.models import Queue
from trackers.schedule import intervals
from trackers.schedule import replan as replanning
from trackers.schedule.models import Interval, Replanning
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetBucket, TweetUpdate

pytestmark = pytest.mark.django_db

S = timedelta(seconds=1)
M, H, D = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
FAR = timedelta(days=300)


@pytest.fixture
def now():
    return intervals.current()[0]


@pytest.fixture(autouse=True)
def plain_plan():
    Interval.objects.all().delete()
    IntervalFactory(younger_than=H, every=10 * M)
    IntervalFactory(younger_than=30 * D, every=D)


def tweet(now, *, age=5 * M, looked=M, due=FAR, **more):
    """A measured tweet and its look-up that waits."""
    made = TweetFactory(
        measured=True,
        created_at=None if age is None else now - age,
        taken_at=now - looked,
        **more,
    )
    if due is not None:
        TweetUpdateFactory(key=made.id, due_at=now + due)
    return made.id


def replan(size=2):
    """All of it, in small pieces: how many were moved, and how many woken."""
    replanning.replan()
    while replanning.plan_piece(Replanning.objects.get().turn, size=size):
        pass
    done = Replanning.objects.get()
    assert done.finished_at
    return done.moved, done.woken


def by_the_second(at):
    """When what is wished for that time is due."""
    return at.replace(microsecond=0) + S


def stamp_of(id):
    return TweetUpdate.objects.get(key=id).stamp


def due(id):
    return TweetUpdate.objects.values_list("due_at", flat=True).get(key=id)


def test_a_replanned_tweet_is_due_one_interval_after_its_last_check(now):
    young, old = tweet(now), tweet(now, age=2 * D, looked=2 * H)

    assert replan() == (2, 0)

    assert due(young) == by_the_second(now + 9 * M)
    assert due(old) == by_the_second(now + 22 * H)


def test_a_resting_tweet_covered_by_new_intervals_is_scheduled(now):
    covered, past = tweet(now, due=None), tweet(now, age=30 * D, due=None)

    assert replan() == (0, 1)

    assert due(covered) == by_the_second(now + 9 * M)
    assert not TweetUpdate.objects.filter(key=past).exists()


def test_claimed_tweets_are_left_to_their_save(now):
    id = tweet(now)
    TweetBucket.objects.update(lease=5)

    assert replan() == (0, 0)
    assert due(id) == now + FAR


@pytest.mark.parametrize(
    "state",
    [
        pytest.param({"paused": True}, id="paused"),
        pytest.param(
            {"gone_at": "2026-01-01T00:00Z", "missing_since": "2026-01-01T00:00Z"}, id="gone"
        ),
        pytest.param({"missing_since": "2026-01-01T00:00Z"}, id="to be confirmed"),
        pytest.param({"created_at": None}, id="without a birthdate"),
        pytest.param({"measurements": 0}, id="never looked up"),
    ],
)
def test_some_tweets_are_neither_moved_nor_scheduled(now, state):
    waiting, resting = tweet(now), tweet(now, due=None)
    Tweet.objects.update(**state)

    assert replan() == (0, 0)
    assert due(waiting) == now + FAR
    assert not TweetUpdate.objects.filter(key=resting).exists()


def test_isolated_tweets_stay_isolated(now):
    tweet(now)
    TweetUpdate.objects.update(strikes=4, stamp=None)

    assert replan() == (0, 0)


def test_a_suspect_keeps_its_strikes(now):
    id = tweet(now)
    TweetBucket.objects.update(strikes=2)

    replan()

    [bucket] = [one for one in TweetBucket.objects.all() if one.stamp == stamp_of(id)]
    assert bucket.strikes == 2


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_tweets_overdue_by_new_intervals_are_spread_youngest_first(now, size):
    Queue.objects.update(arrivals_per_second=2)
    ids = [tweet(now, looked=H) for _ in range(5)]
    later = tweet(now)

    replan(size)

    assert [due(id) for id in reversed(ids)] == [
        now + timedelta(seconds=place / 2) for place in range(5)
    ]
    assert due(later) == by_the_second(now + 9 * M)


def test_without_any_interval_nothing_is_moved(now):
    id = tweet(now)
    Interval.objects.all().delete()

    assert replan() == (0, 0)
    assert due(id) == now + FAR


def test_jitter_stays_in_its_bounds(now):
    Interval.objects.update(jitter=0.5)
    ids = [tweet(now, looked=timedelta(0)) for _ in range(50)]

    replan()

    found = [due(id) - now for id in ids]
    assert len(set(found)) > 40
    assert 5 * M <= min(found) <= max(found) <= 15 * M + S


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    ages=st.lists(
        st.timedeltas(-6 * M, 40 * D)
        | st.sampled_from([-5 * M, timedelta(0), H, 30 * D, H - timedelta(microseconds=1)]),
        min_size=1,
        max_size=20,
    )
)
def test_the_statement_agrees_with_the_pure_rule_for_every_age(now, ages):
    Tweet.objects.all().delete()
    TweetUpdate.objects.all().delete()
    _, plan = intervals.current()
    ids = {tweet(now, age=age, looked=timedelta(0), due=None): age for age in ages}

    replan()

    for id, age in ids.items():
        delay = plan.update_delay(now - age, now=now)
        found = TweetUpdate.objects.filter(key=id).values_list("due_at", flat=True).first()
        assert found == (delay and by_the_second(now + delay))
