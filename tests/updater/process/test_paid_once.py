"""X bills a post once a UTC day, whatever it shows of it; so do our books."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum

from tests.factories import CredentialFactory
from tests.flows.fake_time import FakeTime
from trackers import tasks
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.models import Project, Spending
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetBucket
from trackers.updater.verdicts import ASK_AGAIN
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
LOOKS, SHOWN, BROKEN = 6, 96, 50


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    fakex.delete("projects")
    CredentialFactory(name="one")
    Queue.objects.filter(name=TWEET_UPDATE).update(buffer_ttl=timedelta(0))
    yield fakex
    fakex.delete("projects")


@pytest.fixture
def time(x):
    return FakeTime(x, start=NOON)


@pytest.fixture
def broken(x, time):
    """The ids that X shows with figures of a wrong type, of a hundred of which it shows 96."""
    ids = x.ids(100)
    states = {id: "live" if n < SHOWN else "deleted" for n, id in enumerate(ids)}
    x.put("tweets", {str(id): {"state": state} for id, state in states.items()})
    chosen = ids[:BROKEN]
    x.put("faults", [{"kind": "broken", "match": {"ids": [str(id) for id in chosen]}}])
    list(track((FoundTweet(id) for id in ids), came_from="a test"))
    return frozenset(chosen)


def look():
    """All that is due, asked for once."""
    with cursor() as db:
        db.execute("UPDATE trackers_tweetbucket SET due_at = now() WHERE lease IS NULL")
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))


def billed(x):
    return sum(sum(days.values()) for days in x.get("totals")["billed"].values())


def test_an_unreadable_tweet_is_paid_once_a_day(x, time, broken):
    for _ in range(LOOKS):
        look()
        time.pass_(ASK_AGAIN)

    assert len(x.log()) == LOOKS
    spent = Spending.objects.aggregate(Sum("posts"), Sum("posts_reserved"))
    assert spent == {"posts__sum": billed(x), "posts_reserved__sum": 0}
    assert billed(x) == SHOWN
    paid = Tweet.objects.filter(paid_on=NOON.date(), paid_by=Project.objects.get().pk)
    assert broken <= set(paid.values_list("id", flat=True))
    assert Tweet.objects.filter(measurements=0, missing_since=None).count() == BROKEN


def test_an_unreadable_tweet_is_paid_again_on_the_next_day(x, time, broken):
    look()
    time.pass_(timedelta(days=1))
    look()

    assert Spending.objects.aggregate(Sum("posts"))["posts__sum"] == billed(x) >= SHOWN + BROKEN


def test_an_unreadable_tweet_claimed_by_another_worker_is_left_to_it(x, time, broken):
    with cursor() as db:
        db.execute("UPDATE trackers_tweetbucket SET due_at = now()")
    batch = queue.get(TWEET_UPDATE, 100)
    TweetBucket.objects.update(lease=batch.lease + 1)

    tasks.update_tweets(batch)

    assert len(x.log()) == 1
    assert not Tweet.objects.exclude(paid_on=None).exists()
