"""An hour in which X is down, in fake time: nobody is blamed, and the forecast holds.

With young tweets among them, and a flood of old ones before: the youngest wait behind neither.
"""

import random
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now

from fakex.world.ids import Ids
from tests.factories import CredentialFactory
from tests.flows.fake_time import FakeTime
from tests.flows.test_month import born
from trackers import tasks
from trackers.credentials import acts
from trackers.credentials.models import Credential
from trackers.history import by_command
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.observed.models import Worker
from trackers.management.status_json import status_json
from trackers.schedule.models import Interval
from trackers.tweets.snowflake import first_id_at
from trackers.updater.models import TweetBucket
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# Nine requests of 100 an hour, where twelve are allowed, three in each quarter of it.
TWEETS, EVERY, WINDOW = 900, HOUR, 3
START = datetime(2026, 12, 1, 8, tzinfo=UTC)
BEHIND_AFTER = 30


def join_as_worker():
    """Be the living worker without which nothing is forecast."""
    Worker.objects.create(
        cluster=uuid4(), host="h", pid=1, kind="worker", started_at=Now(), seen_at=Now()
    )


class Outage:
    def __init__(self, x, time):
        self.x, self.time = x, time
        ids = Ids(seed=1, tweets=10_000, start_ms=0)
        found = born(ids, random.Random(3), START - HOUR, START - MINUTE, TWEETS)
        x.put("tweets", {str(id): {"state": "live"} for id in found})
        list(track((FoundTweet(id) for id in found), came_from="a test"))
        join_as_worker()

    def run(self, *, until):
        """Work for so long, or until it is so; how long it took."""
        began = self.time.now()
        is_over = until if callable(until) else lambda: self.time.now() - began >= until
        while not is_over():
            self.look_around()
            Worker.objects.update(seen_at=Now())
            while batch := queue.claim_batch(TWEET_UPDATE):
                tasks.update_tweets(batch)
            ready = queue.ready_in(TWEET_UPDATE)
            wait = 10.0 if ready is None else min(max(ready, 0.05), 10.0)
            self.time.pass_(timedelta(seconds=wait))
        return self.time.now() - began

    def look_around(self):
        pass

    def answered(self):
        return sum(entry["status"] == 200 for entry in self.x.log())


def is_fresh():
    return status_json()["oldest_due_seconds"] <= BEHIND_AFTER


@pytest.fixture
def fake_time(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=5)
    CredentialFactory(name="one")
    Interval.objects.all().delete()
    yield FakeTime(fakex, start=START)
    fakex.put("clock", {"ahead_s": 0})


@pytest.fixture
def outage(fakex, fake_time):
    allow(fakex, WINDOW)
    Queue.objects.filter(name=TWEET_UPDATE).update(
        arrivals_per_second=1_000_000, buffer_ttl=timedelta(seconds=10)
    )
    Interval.objects.create(younger_than=timedelta(days=7), every=EVERY, jitter=0)
    return Outage(fakex, fake_time)


def allow(x, requests):
    """So many in a quarter of an hour."""
    limits = {"token": requests, "app": requests, "window": 900}
    x.put("limits", {"GET /2/tweets": limits})


@pytest.mark.parametrize(
    "kind", ["503_json", *(pytest.param(kind, marks=pytest.mark.more) for kind in ("reset", "401"))]
)
def test_after_an_hour_of_outage_all_is_fresh_within_the_forecast_catch_up_time(outage, kind):
    outage.run(until=2 * HOUR)
    assert is_fresh(), "as it should be before"
    before = outage.answered()

    outage.x.put("faults", [{"kind": kind, "match": {"endpoint": "GET /2/tweets"}}])
    outage.run(until=HOUR)
    assert outage.answered() == before
    asked = len(outage.x.log())
    told = status_json()
    assert told["due"] == TWEETS
    assert told["isolated"] == 0
    if kind == "401":
        assert asked <= before + 6, "a refused key is tried six times in its first hour"

    outage.x.delete("faults")
    if kind == "401":
        # It would be tried an hour after the last try; a person who knows more need not wait.
        acts.enable([Credential.objects.get()], by_command())
    heard = outage.run(until=lambda: outage.answered() > before)
    forecast = timedelta(seconds=status_json()["catch_up_seconds"])
    took = outage.run(until=is_fresh)

    print(f"\n{kind}: {asked} requests in the outage, heard again after {heard}; "
          f"forecast {forecast}, fresh again after {took}")  # fmt: skip
    assert heard <= 13 * MINUTE, "the longest step of the ladder, and its jitter"
    assert took <= forecast
    assert status_json()["isolated"] == 0
    assert TweetBucket.objects.filter(strikes__gt=0).count() == 0
    assert Credential.objects.filter(disabled_at=None).count() == 1


# A quarter of an hour allows 60 requests, one in 15 s. Young tweets come in all the while, each is
# looked at every minute for its first 18; the old ones could wait.
REQUESTS, YOUNG_FOR, OLD, OLD_EVERY = 60, 18 * MINUTE, 8000, HOUR
BORN_EVERY = timedelta(seconds=40)

# How long the young tweet that waits longest has waited for its next look.
YOUNGEST_LATE = """
    SELECT max(now() - greatest(t.measured_until, t.tracked_at)) - %(every)s::interval
    FROM trackers_tweet t WHERE t.id >= %(first)s
"""
OLD_DUE = "SELECT count(*) FROM trackers_tweetupdate WHERE due_at <= now() AND key < %(first)s"


class Backlog(Outage):
    """Old tweets by the thousand, and young ones that are looked at every minute."""

    def __init__(self, x, time):
        self.x, self.time = x, time
        ids, rng = Ids(seed=1, tweets=100_000, start_ms=0), random.Random(3)
        count = int(12 * HOUR / BORN_EVERY)
        self.coming = born(ids, rng, START - YOUNG_FOR, START + 12 * HOUR, count)
        self.old = born(ids, rng, START - 3 * HOUR - OLD * MINUTE / 100, START - 3 * HOUR, OLD)
        x.put("tweets", {str(id): {"state": "live"} for id in self.coming + self.old})
        self.late = []
        join_as_worker()
        self.look_around()

    def first_id(self, before):
        return first_id_at(int((self.time.now() - before).timestamp() * 1000))

    def look_around(self):
        """Track what was born meanwhile; note how late the youngest tier is."""
        come = bisect_left(self.coming, self.first_id(timedelta(0)))
        list(track((FoundTweet(id) for id in self.coming[:come]), came_from="a test"))
        del self.coming[:come]
        with cursor() as db:
            given = {"every": MINUTE, "first": self.first_id(YOUNG_FOR)}
            self.late.append((self.time.now(), db.execute(YOUNGEST_LATE, given).fetchone()[0]))

    def old_due(self):
        with cursor() as db:
            found = db.execute(OLD_DUE, {"first": self.first_id(YOUNG_FOR)}).fetchone()
        return found[0]

    def latest_since(self, at):
        return max(late for when, late in self.late if when >= at)


@pytest.fixture
def backlog(fakex, fake_time):
    allow(fakex, REQUESTS)
    Queue.objects.filter(name=TWEET_UPDATE).update(buffer_ttl=timedelta(seconds=20))
    Interval.objects.create(younger_than=YOUNG_FOR, every=MINUTE, jitter=0)
    Interval.objects.create(younger_than=timedelta(days=30), every=OLD_EVERY, jitter=0.5)
    return Backlog(fakex, fake_time)


@pytest.mark.timeout(400)
@pytest.mark.more
def test_the_youngest_stay_fresh_during_catch_up_after_a_flood_and_an_outage(backlog):
    backlog.run(until=5 * MINUTE)
    flooded_at = backlog.time.now()
    list(track((FoundTweet(id) for id in backlog.old), came_from="a file"))

    flood = backlog.run(until=lambda: backlog.old_due() == 0)
    late_in_flood = backlog.latest_since(flooded_at)
    backlog.x.put("faults", [{"kind": "503_json", "match": {"endpoint": "GET /2/tweets"}}])
    backlog.run(until=HOUR)
    waiting, before = backlog.old_due(), backlog.answered()
    backlog.x.delete("faults")
    backlog.run(until=lambda: backlog.answered() > before)
    backlog.run(until=2 * MINUTE)
    forecast = timedelta(seconds=status_json()["catch_up_seconds"])
    heard_at = backlog.time.now()
    took = backlog.run(until=is_fresh)
    late_after = backlog.latest_since(heard_at)

    print(
        f"\n{OLD} old ones at once: through after {flood}, the youngest at most {late_in_flood}"
        f" late; {waiting} waiting after the outage: caught up after {took} of {forecast} forecast,"
        f" the youngest at most {late_after} late"
    )
    assert waiting > OLD // 2
    assert late_in_flood <= MINUTE
    assert late_after <= MINUTE
    assert took <= forecast
