"""A day may end between the look at the money and X's reply: what is sent is paid for on both."""

import time
from datetime import UTC, date, datetime, timedelta

import pytest

from tests import queues
from tests.factories import CredentialFactory
from tests.flows.fake_time import FakeTime
from trackers.credentials import selection
from trackers.credentials.preflight import keys_for
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.money import ledger
from trackers.money.balances import CLOCKS
from trackers.money.models import Project, Spending
from trackers.tweets.models import Tweet
from trackers.updater.before import read_before
from trackers.updater.models import TweetUpdate
from trackers.updater.reserve import Waiting, reserve_batch
from trackers.xapi.errors import NotReady
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

TODAY, TOMORROW = date(2027, 3, 10), date(2027, 3, 11)
MIDNIGHT = datetime(2027, 3, 11, tzinfo=UTC)
TIMEOUT = timedelta(seconds=15)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    CredentialFactory(name="one")
    Project.objects.update(posts_a_day=1000)
    yield FakeTime(fakex, start=MIDNIGHT - 10 * MINUTE)
    fakex.put("clock", {"ahead_s": 0})


@pytest.fixture
def batch(clock):
    """Five tweets that are due; two of them were paid for today."""
    ids = clock.x.ids(5)
    list(track((FoundTweet(id) for id in ids), came_from="a test"))
    with cursor() as db:
        db.execute("UPDATE trackers_tweetbucket SET due_at = now()")
    project = Project.objects.get().pk
    Tweet.objects.filter(id__in=ids[:2]).update(paid_on=TODAY, paid_by=project)
    Project.objects.update(rationed_at=clock.now())
    return queue.get(TWEET_UPDATE, 100)


def reserved():
    return dict(Spending.objects.values_list("day", "posts_reserved"))


def turn_to(clock, when):
    clock.pass_(when - clock.now())


def test_a_request_delayed_until_near_midnight_is_reserved_on_both_days(clock, batch):
    turn_to(clock, MIDNIGHT - 5 * MINUTE)
    before = read_before(batch.keys)
    # Rationing, waiting for a lock, waiting for a window.
    turn_to(clock, MIDNIGHT - timedelta(seconds=12))

    [grant] = reserve_batch(batch, before, timeout=TIMEOUT).requests

    assert (grant.payment.day, grant.payment.posts, grant.payment.tomorrow) == (TODAY, 3, 5)
    assert reserved() == {TODAY: 3, TOMORROW: 5}


def test_time_for_a_renewal_of_tokens_is_included(clock, batch):
    turn_to(clock, MIDNIGHT - 1.7 * TIMEOUT)

    [grant] = reserve_batch(batch, read_before(batch.keys), timeout=TIMEOUT).requests

    assert grant.payment.tomorrow == 5


def test_a_batch_read_before_midnight_is_not_paid_by_that_day_after_it(clock, batch):
    turn_to(clock, MIDNIGHT - MINUTE)
    before = read_before(batch.keys)
    turn_to(clock, MIDNIGHT + timedelta(seconds=1))

    assert isinstance(reserve_batch(batch, before, timeout=TIMEOUT), Waiting)

    assert not any(reserved().values())
    assert queues.states(TweetUpdate) == {(None, 0)}
    clock.pass_(timedelta(seconds=3))
    Project.objects.update(rationed_at=clock.now())
    again = queue.get(TWEET_UPDATE, 100)
    [grant] = reserve_batch(again, read_before(again.keys), timeout=TIMEOUT).requests
    assert (grant.payment.day, grant.payment.posts) == (TOMORROW, 5), "on the new day all are new"


def test_a_request_whose_reply_could_cross_midnight_is_not_sent(clock, batch):
    """Reserved in good time, for today alone."""
    turn_to(clock, MIDNIGHT - 3 * TIMEOUT)
    [grant] = reserve_batch(batch, read_before(batch.keys), timeout=TIMEOUT).requests
    assert grant.payment.tomorrow == 0
    left = grant.payment.reply_by - time.monotonic()
    assert left <= 3 * TIMEOUT.total_seconds() - CLOCKS.total_seconds()
    assert left > TIMEOUT.total_seconds(), "the machine is too busy for this test"
    fields = {"base_url": clock.x.url, "ends": {"its day": grant.payment.reply_by}}

    with keys_for(grant.selected, timeout=TIMEOUT, **fields):
        pass
    # As if that long had passed: a reply would be awaited until after midnight.
    with (
        pytest.raises(NotReady, match="its day"),
        keys_for(grant.selected, timeout=3 * TIMEOUT, **fields),
    ):
        raise AssertionError("it was sent")

    selection.cancel(grant.selected)
    ledger.cancel(grant.payment)
    assert reserved() == {TODAY: 0}


def test_a_request_reserved_on_both_days_may_be_sent_after_midnight(clock, batch):
    turn_to(clock, MIDNIGHT - timedelta(seconds=10))
    [grant] = reserve_batch(batch, read_before(batch.keys), timeout=TIMEOUT).requests

    left = timedelta(seconds=grant.payment.reply_by - time.monotonic())

    assert timedelta(hours=23) < left < timedelta(hours=24, seconds=10)


def test_an_unexpected_reply_after_midnight_is_billed_on_the_new_day(clock, batch):
    """X's clock was ahead of what its last reply had told."""
    turn_to(clock, MIDNIGHT - MINUTE)
    [grant] = reserve_batch(batch, read_before(batch.keys), timeout=TIMEOUT).requests
    assert grant.payment.tomorrow == 0

    ledger.settle_payment(
        grant.payment, posts=3, all_posts=5, x_now=MIDNIGHT + timedelta(seconds=1)
    )

    assert dict(Spending.objects.values_list("day", "posts")) == {TODAY: 3, TOMORROW: 5}
    assert not any(reserved().values())
