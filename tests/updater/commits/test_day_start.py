"""Each day is rationed anew; until it is, only the youngest are paid for."""

from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError, connection

from tests.databases import url_of
from tests.factories import AppFactory, CredentialFactory, ProjectFactory
from tests.jobs.ordinary import enqueued, run_all
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.balances import read_balances
from trackers.money.models import Project
from trackers.schedule import intervals
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import first_id_at
from trackers.updater.before import read_before
from trackers.updater.models import TweetUpdate
from trackers.updater.rationing import ration_projects
from trackers.updater.reserve import (
    MAX_WAIT_FOR_RATIONING,
    WAIT_FOR_RATIONING,
    BatchGrant,
    Waiting,
    reserve_batch,
)
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
TIMEOUT = timedelta(seconds=1)
WANTED = [("trackers.tasks.ration_money",)]


def born(ago, count, *, after=0):
    now, _ = intervals.current()
    first = first_id_at(int((now - ago).timestamp() * 1000))
    return [first + after + n for n in range(count)]


@pytest.fixture
def old():
    """Three old tweets, money for two, and the rationing of yesterday, when there was enough."""
    CredentialFactory(name="one")
    ids = born(10 * DAY, 3)
    list(track(map(FoundTweet, ids), came_from="a test"))
    yesterday = intervals.current()[0] - DAY
    Project.objects.update(posts_a_day=2, reserved_for_younger=[], rationed_at=yesterday)
    return ids


@pytest.fixture
def young(old):
    """And two of the last minutes."""
    ids = born(2 * MINUTE, 2)
    list(track(map(FoundTweet, ids), came_from="a test"))
    return ids


def ask():
    """Claim all that is due, and ask for it."""
    batch = queue.get(TWEET_UPDATE, 100)
    return reserve_batch(batch, read_before(batch.keys), timeout=TIMEOUT)


def unpaid():
    [asked] = ask().requests
    return sorted(asked.unpaid)


def waits(id):
    return TweetUpdate.objects.get(key=id).due_at - intervals.current()[0]


def test_the_first_batch_of_a_day_serves_the_young_and_computes_the_reserves(old, young):
    [asked] = ask().requests

    assert isinstance(asked, BatchGrant)
    assert sorted(asked.unpaid) == young
    assert enqueued() == WANTED
    for id in old:
        assert timedelta(0) < waits(id) <= WAIT_FOR_RATIONING


def test_old_tweets_are_looked_up_as_soon_as_the_reserves_are_computed(old):
    assert isinstance(ask(), Waiting)

    run_all()

    assert read_balances()[0].is_rationed
    assert Project.objects.get().waiting == 1
    queue.schedule_many(TWEET_UPDATE, ((id, timedelta(0)) for id in old))
    assert len(unpaid()) == 2, "what is left of the money when no young ones come"


def test_many_batches_compute_the_reserves_once(old, young):
    ask()
    queue.schedule_many(TWEET_UPDATE, ((id, timedelta(0)) for id in old))
    ask()

    assert enqueued() == WANTED


def test_the_periodic_task_can_compute_the_reserves_first(old):
    now, plan = intervals.current()

    ration_projects(plan, now=now)

    assert len(unpaid()) == 2
    assert enqueued() == []


def test_without_computed_reserves_old_tweets_wait_only_some_minutes(old):
    assert isinstance(ask(), Waiting)
    now, _ = intervals.current()
    Project.objects.update(rationing_requested_at=now - MAX_WAIT_FOR_RATIONING - MINUTE)
    queue.schedule_many(TWEET_UPDATE, ((id, timedelta(0)) for id in old))

    assert len(unpaid()) == 2


def test_tweets_paid_today_are_looked_up_before_the_reserves_are_computed(old):
    balance = read_balances()[0]
    Tweet.objects.filter(id=old[0]).update(paid_on=balance.day, paid_by=balance.project)

    [asked] = ask().requests

    assert asked.batch.keys == (old[0],)
    assert asked.payment.posts == 0


def test_no_other_project_pays_for_tweets_that_wait_for_the_reserves(old):
    CredentialFactory(app=AppFactory(project=ProjectFactory(name="without a budget")))
    Tweet.objects.update(paid_by=Project.objects.get(name="one").pk)

    assert isinstance(ask(), Waiting)
    assert waits(old[0]) <= WAIT_FOR_RATIONING


def test_without_a_budget_no_tweet_waits_for_reserves(old):
    Project.objects.update(posts_a_day=None)

    assert len(unpaid()) == 3
    assert enqueued() == []


def test_a_new_budget_waits_for_its_first_reserves(old, young):
    Project.objects.update(rationed_at=None)

    assert unpaid() == young
    assert enqueued() == WANTED


def test_an_interrupted_run_keeps_the_reserves_of_the_first_projects(old):
    other = ProjectFactory(name="second", posts_a_day=2)
    CredentialFactory(app=AppFactory(project=other))
    now, plan = intervals.current()
    with cursor() as db, psycopg.connect(url_of(connection.settings_dict["NAME"])) as rival:
        rival.execute("SELECT FROM trackers_project WHERE id = %s FOR UPDATE", [other.pk])
        db.execute("SET lock_timeout = '300ms'")

        with pytest.raises(OperationalError):
            ration_projects(plan, now=now)

    assert [balance.is_rationed for balance in read_balances()] == [True, False]
