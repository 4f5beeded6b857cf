"""An hour in which X is down, in fake time: nobody is blamed, and the forecast holds."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import CredentialFactory
from tests.flows.fake_time import FakeTime
from tests.flows.test_month import born
from trackers import tasks
from trackers.fakex.ids import Ids
from trackers.ingest.lines import Found
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import Namespace
from trackers.management.status import status
from trackers.schedule.models import Interval
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.updater.models import TweetUpdate
from trackers.xapi.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# Nine requests of 100 an hour, where twelve are allowed, three in each quarter of it.
TWEETS, EVERY, WINDOW = 900, HOUR, 3
START = datetime(2026, 12, 1, 8, tzinfo=UTC)
BEHIND_AFTER = 30


class Outage:
    def __init__(self, x, time):
        self.x, self.time = x, time
        ids = Ids(seed=1, tweets=10_000, start_ms=0)
        found = born(ids, random.Random(3), START - HOUR, START - MINUTE, TWEETS)
        x.put("tweets", {str(id): {"state": "live"} for id in found})
        list(track((Found(id) for id in found), came_from="a test"))

    def run(self, *, until):
        """Work for so long, or until it is so; how long it took."""
        began = self.time.now()
        is_over = until if callable(until) else lambda: self.time.now() - began >= until
        while not is_over():
            while batch := queue.claim(TWEET_UPDATE):
                tasks.update_tweets(batch)
            ready = queue.ready_in(TWEET_UPDATE)
            wait = 10.0 if ready is None else min(max(ready, 0.05), 10.0)
            self.time.pass_(timedelta(seconds=wait))
        return self.time.now() - began

    def answered(self):
        return sum(entry["status"] == 200 for entry in self.x.log())


def is_fresh():
    return status()["oldest_due_seconds"] <= BEHIND_AFTER


@pytest.fixture
def outage(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=5)
    limits = {"token": WINDOW, "app": WINDOW, "window": 900}
    fakex.put("limits", {"GET /2/tweets": limits})
    CredentialFactory(name="one")
    Namespace.objects.filter(name=TWEET_UPDATE).update(
        arrivals_per_second=1_000_000, buffer_ttl=timedelta(seconds=10)
    )
    Interval.objects.all().delete()
    Interval.objects.create(younger_than=timedelta(days=7), every=EVERY, jitter=0)
    yield Outage(fakex, FakeTime(fakex, start=START))
    fakex.put("clock", {"ahead_s": 0})


@pytest.mark.parametrize("kind", ["503_json", "reset", "401"])
def test_after_an_hour_without_x_all_is_fresh_within_the_time_that_was_forecast(outage, kind):
    outage.run(until=2 * HOUR)
    assert is_fresh(), "as it should be before"
    before = outage.answered()

    outage.x.put("faults", [{"kind": kind, "match": {"endpoint": "GET /2/tweets"}}])
    outage.run(until=HOUR)
    assert outage.answered() == before
    asked = len(outage.x.log())
    told = status()
    assert told["due"] == TWEETS
    assert told["isolated"] == 0
    disabled = Credential.objects.exclude(disabled_at=None).exists()

    outage.x.delete("faults")
    if kind == "401":
        # Three refusals over five minutes: that is what disables, and a person enables again.
        assert disabled
        Credential.objects.get().enable()
    else:
        assert not disabled
    heard = outage.run(until=lambda: outage.answered() > before)
    forecast = timedelta(seconds=status()["catch_up_seconds"])
    took = outage.run(until=is_fresh)

    print(f"\n{kind}: {asked} requests in the outage, heard again after {heard}; "
          f"forecast {forecast}, fresh again after {took}")  # fmt: skip
    assert heard <= 13 * MINUTE, "the longest step of the ladder, and its jitter"
    assert took <= forecast
    assert status()["isolated"] == 0
    assert TweetUpdate.objects.filter(attempts__gt=0).count() == 0
    assert Credential.objects.filter(disabled_at=None).count() == 1
