"""The next hour's checks as a cluster keeps them: once a minute, for all readers."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import AppFactory, CredentialFactory, TweetFactory, id_born
from tests.large_tables import QUEUE, TWEETS, fill_what_was_drained, reading
from trackers.credentials.sentences import NONE_YET
from trackers.forecasts import hour as keeping
from trackers.forecasts.hour import NOT_YET, next_hour, record_hour
from trackers.forecasts.inputs import NO_WINDOWS, PAUSED
from trackers.forecasts.models import ForecastHour
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.schedule import intervals
from trackers.schedule.intervals import Plan, Tier
from trackers.tasks import forecast_days
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
PLAN = Plan((Tier(30 * DAY, 20 * MINUTE),))


@pytest.fixture
def now():
    return datetime.now(UTC)


@pytest.fixture
def credential():
    return CredentialFactory(app=AppFactory())


def tracked(many, *, now, due):
    for place in range(many):
        born = now - 5 * DAY - place * timedelta(milliseconds=10)
        id = id_born(born)
        TweetFactory(
            id=id, created_at=born, tracked_at=now - 3 * DAY, measurements=1, measured_until=now,
            taken_at=now,
        )  # fmt: skip
        queue.schedule(TWEET_UPDATE, id, HOUR)
        TweetUpdate.objects.filter(key=id).update(due_at=now + due)


def total(hour):
    return round(sum(minute.known for minute in hour.minutes))


def test_the_hour_has_the_checks_that_follow_the_next_one(credential, now):
    tracked(4, now=now, due=5 * MINUTE)
    tracked(1, now=now + MINUTE, due=-HOUR)

    assert record_hour(PLAN, now=now, gone_every=DAY)

    hour = next_hour(now=now)
    assert len(hour.minutes) == 60
    # Four in 5, 25 and 45 minutes; what is overdue at once, and again every 20.
    assert total(hour) == 4 * 3 + 3
    by_minute = {minute.at: round(minute.known) for minute in hour.minutes}
    first = now.replace(second=0, microsecond=0)
    assert by_minute[first] == 1
    assert 4 in (by_minute[first + 5 * MINUTE], by_minute[first + 6 * MINUTE])
    assert hour.why == NO_WINDOWS


def test_one_cluster_works_it_out_once_a_minute_for_all(credential, now):
    tracked(1, now=now, due=5 * MINUTE)
    assert record_hour(PLAN, now=now, gone_every=DAY)
    tracked(2, now=now + MINUTE, due=5 * MINUTE)
    assert not record_hour(PLAN, now=now, gone_every=DAY)
    assert total(next_hour(now=now)) == 3

    # A minute later the row still covers a whole hour.
    assert len(next_hour(now=now + MINUTE).minutes) == 60
    ForecastHour.objects.update(taken_at=now - 2 * MINUTE)
    assert record_hour(PLAN, now=now, gone_every=DAY)
    assert total(next_hour(now=now)) == 9


def test_a_cluster_that_ended_long_ago_says_nothing_of_now(credential, now):
    assert next_hour(now=now).why == NOT_YET
    record_hour(PLAN, now=now, gone_every=DAY)

    later = next_hour(now=now + 10 * MINUTE)

    assert (later.minutes, later.why) == ((), NOT_YET)


def test_while_nothing_can_be_checked_the_hour_says_why(now):
    tracked(1, now=now, due=5 * MINUTE)
    record_hour(PLAN, now=now, gone_every=DAY)
    assert (next_hour(now=now).minutes, next_hour(now=now).why) == ([], NONE_YET)

    CredentialFactory(app=AppFactory())
    Queue.objects.filter(pk=TWEET_UPDATE).update(paused=True)
    ForecastHour.objects.all().delete()
    record_hour(PLAN, now=now, gone_every=DAY)
    assert (next_hour(now=now).minutes, next_hour(now=now).why) == ([], PAUSED)


def test_the_periodic_task_works_it_out(credential, now):
    forecast_days()

    assert ForecastHour.objects.exclude(taken_at=None).exists()


@pytest.mark.django_db(transaction=True)
def test_a_run_reads_as_much_for_any_number_of_tweets(credential, monkeypatch):
    """With statistics of emptied tables, by which a planner would walk over them."""
    monkeypatch.setattr(keeping, "SAMPLE_FOR_HOUR", {"exactly": 1000, "drawn": 1000})
    fill_what_was_drained(60_000, payers=[credential.app.project_id, None])
    now, plan = intervals.current()

    with reading() as read:
        assert record_hour(plan, now=now, gone_every=DAY)

    # All are overdue.
    assert total(next_hour(now=now)) > 50_000
    assert read.walked == {TWEETS: 0, QUEUE: 0}
    assert read.found[QUEUE] <= 2000
    assert read.found[TWEETS] <= 2000
