"""429s that tell no time to come again: few requests, however much is due."""

import math
import time
from datetime import timedelta

import pytest

from tests.credentials.db.test_windows import let_pass
from tests.factories import CredentialFactory
from tests.ingest.polls.steps import accounts, add, asked, connect
from tests.updater.process.test_refresh import held, tracked, turn_clock
from trackers import tasks
from trackers.credentials.models import Window
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.tweets.models import Tweet
from tweetwatch.database import cursor

# Committed: the time of the database stands still in a transaction.
pytestmark = pytest.mark.django_db(transaction=True)
TWEETS, POSTS = "GET /2/tweets", "GET /2/users/:id/tweets"
ROUNDS = 12


@pytest.fixture
def x(fakex, settings):
    return connect(fakex, settings)


def rungs(seconds):
    """How many requests a ladder of 1, 2, 4 … seconds allows in so long, jitter and all."""
    return 2 + int(math.log2(1 + seconds / 0.8))


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("429_past", {}),
        ("429_past", {"reset": 0}),
        ("429_past", {"headers": "reset"}),
        ("429_edge", {}),
        ("429_edge", {"retry_after": 0}),
        ("429_per_second", {}),
    ],
)
def test_a_429_without_a_time_causes_no_hot_loop(x, kind, params):
    x.put("faults", [{"kind": kind, "params": params}])
    tracked(x)
    began = time.monotonic()

    for _ in range(ROUNDS):
        turn_clock(timedelta(seconds=2))
        if batch := queue.get(TWEET_UPDATE, 100):
            tasks.update_tweets(batch)

    most = rungs(time.monotonic() - began)
    assert most < ROUNDS, "the machine is too slow to tell"
    assert 1 <= len(asked(x, TWEETS)) <= most
    assert "429" in held()[0]
    x.delete("faults")
    let_pass(1000)
    turn_clock(timedelta(seconds=1000))
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))
    assert Tweet.objects.filter(measurements=1).count() > 80


@pytest.mark.parametrize("params", [{"retry_after": 600}, {"retry_after": "600, 600"}])
def test_a_retry_after_of_the_edge_is_obeyed(x, params):
    x.put("faults", [{"kind": "429_edge", "params": params, "times": 1}])
    tracked(x)

    for _ in range(3):
        turn_clock(timedelta(seconds=100))
        if batch := queue.get(TWEET_UPDATE, 100):
            tasks.update_tweets(batch)

    assert [entry["status"] for entry in asked(x, TWEETS)] == [429]


def test_repeated_headers_are_understood(x):
    x.put("faults", [{"kind": "429_twice", "params": {"reset_in": 600}, "times": 1}])
    tracked(x)

    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))

    assert [entry["status"] for entry in asked(x, TWEETS)] == [429]
    assert Window.objects.get(endpoint=TWEETS).remaining == 0
    assert "used up what X allows" in held()[0]


@pytest.mark.parametrize("kind", ["429_past", "429_edge", "429_per_second"])
def test_many_sources_share_one_backoff(x, kind):
    sources = [add("account", name, account_id=id) for id, name in accounts(x, 12)]
    x.put("faults", [{"kind": kind}])
    began = time.monotonic()

    for _ in range(2 * len(sources)):
        with cursor() as db:
            db.execute("UPDATE trackers_pollbucket SET due_at = now() - interval '1 second'")
        tasks.poll_source(queue.get("source:poll"))

    most = rungs(time.monotonic() - began)
    assert most < len(sources), "the machine is too slow to tell"
    assert 1 <= len(asked(x, POSTS)) <= most


def test_a_change_from_daily_to_quarter_hourly_windows_is_noticed(x):
    def let(limit, window):
        x.put("limits", {TWEETS: {"token": limit, "app": None, "window": window}})
        x.delete("limits")  # the windows begin anew

    def look():
        turn_clock(timedelta(days=1))
        if batch := queue.get(TWEET_UPDATE, 100):
            tasks.update_tweets(batch)
        return [entry["status"] for entry in asked(x, TWEETS)]

    let(1, 86_400)
    tracked(x)
    assert look() == [200]
    assert look() == [200]
    assert "used up what X allows" in held()[0]
    let(900, 900)
    let_pass(800)
    assert look() == [200], "nobody asks: it may be so"

    let_pass(200)

    assert look() == [200, 200]
    assert look() == [200, 200, 200]
    assert Window.objects.get(endpoint=TWEETS).limit == 900


def test_a_rate_limited_credential_leaves_the_work_to_the_others(x):
    x.tell("POST", "credentials", {"kind": "bearer", "name": "bad", "bearer_token": "token-of-one"})
    CredentialFactory(name="two")
    x.put("faults", [{"kind": "429_edge", "match": {"token": "bad"}}])
    tracked(x)

    for _ in range(6):
        turn_clock(timedelta(hours=1))
        if batch := queue.get(TWEET_UPDATE, 100):
            tasks.update_tweets(batch)

    statuses = [entry["status"] for entry in asked(x, TWEETS)]
    assert 200 in statuses
    assert statuses.count(429) <= 2
