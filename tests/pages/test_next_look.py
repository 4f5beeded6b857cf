"""The tweet's page says why it is looked at next when it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from tests.factories import IntervalFactory, TweetFactory, TweetUpdateFactory
from trackers.dashboards.tweets.next_look import reason
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.intervals import Plan, current
from trackers.schedule.models import Interval, Stretch
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def page(viewer, **given):
    now, _ = current()
    wait = given.pop("wait")
    TweetFactory(
        id=7,
        created_at=now - 2 * HOUR,
        measurements=3,
        taken_at=now,
        measured_until=now,
        likes=5,
        **given,
    )
    TweetUpdateFactory(key=7, due_at=now + timedelta(seconds=wait))
    return viewer.get("/tweets/7/").content.decode()


def test_a_fixed_row(staff):
    Interval.objects.all().delete()
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0)

    assert "Why then: tweets younger than 1d are looked up every 1h." in page(staff, wait=3600)


def test_an_adapting_row(staff):
    Interval.objects.all().delete()
    IntervalFactory(
        younger_than=DAY,
        every=HOUR,
        jitter=0,
        accuracy=0.05,
        at_most=timedelta(seconds=60),
        at_least=timedelta(hours=3),
    )
    wait = adapted_wait(7200, 0.2 / 3600, Bounds(0.05, 60, 10800))

    shown = page(staff, wait=wait, pace=0.2 / 3600)

    assert "Why then: it grows by 20% an hour, and 5% may be missed." in shown


def test_one_that_waits_for_money(staff):
    Interval.objects.all().delete()
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0)
    page(staff, wait=30 * 3600)
    TweetUpdate.objects.update(for_money_until=F("due_at"))

    shown = staff.get("/tweets/7/").content.decode()

    assert "Why then: it waits for tomorrow’s money, since today’s is spent." in shown


def test_in_the_evening_there_may_be_money_left():
    noon = datetime(2027, 3, 10, 12, tzinfo=UTC)

    said = reason(Tweet(), noon + 10 * HOUR, Plan(()), now=noon, waits_for_money=True)

    assert said == "it waits for what is left of today’s money in the evening."


def test_one_whose_next_day_is_begun_later(staff):
    Interval.objects.all().delete()
    adapts = {"accuracy": 0.05, "at_most": timedelta(seconds=60), "at_least": timedelta(hours=20)}
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0, **adapts)
    Stretch.objects.create(pk=1, money=3.0, days_demand=100.0, days_room=25.0)

    shown = page(staff, wait=40 * 3600, pace=0)

    assert "times as long as usual, since the budgets allow 25% of the tweet-days." in shown


def test_a_tweet_that_x_does_not_show_has_no_such_reason(staff):
    now, _ = current()

    assert "Why then" not in page(staff, wait=60, missing_since=now, missing_because="not_found")
