"""The tweet's page says why it is looked at next when it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.factories import IntervalFactory, TweetFactory, TweetUpdateFactory
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.intervals import current
from trackers.schedule.models import Interval

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

    assert "Why then: tweets younger than 1d are looked at every 1h." in page(staff, wait=3600)


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


def test_a_tweet_that_x_does_not_show_has_no_such_reason(staff):
    now, _ = current()

    assert "Why then" not in page(staff, wait=60, missing_since=now, missing_because="not_found")
