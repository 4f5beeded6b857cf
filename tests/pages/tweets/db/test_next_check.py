"""The tweet's page says why it is looked at next when it is."""

from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.db.models import F

from tests.factories import IntervalFactory, TweetFactory, TweetUpdateFactory
from trackers.dashboards.tweets.next_check import explain_next_check
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.explanation import DAY_START, EVENING_RELEASE, TOMORROW
from trackers.schedule.intervals import Plan, current
from trackers.schedule.models import Interval, Stretch, StretchMinute
from trackers.schedule.stretch.words import of_windows
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def page(viewer, **fields):
    now, _ = current()
    wait = fields.pop("wait")
    TweetFactory(
        id=7,
        created_at=now - 2 * HOUR,
        measurements=3,
        taken_at=now,
        measured_until=now,
        likes=5,
        **fields,
    )
    TweetUpdateFactory(key=7, due_at=now + timedelta(seconds=wait))
    return unescape(viewer.get("/tweets/7/").content.decode())


def test_a_fixed_interval_explains_the_next_check(staff):
    Interval.objects.all().delete()
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0)

    assert "Why then: tweets younger than 1 day are checked every hour." in page(staff, wait=3600)


def test_an_overdue_check_says_why_it_is_not_done(staff):
    text = page(staff, wait=-300)

    assert "It waits, because no worker is running." in text
    assert ">due 5 min ago</time>" in text
    assert "Why then" not in text


def test_an_adapting_interval_explains_the_next_check(staff):
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


def test_a_tweet_waiting_for_money_says_so(staff):
    Interval.objects.all().delete()
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0)
    page(staff, wait=30 * 3600)
    TweetUpdate.objects.update(for_money_until=F("due_at"))

    shown = unescape(staff.get("/tweets/7/").content.decode())

    assert f"Why then: {TOMORROW}" in shown


MIDNIGHT = datetime(2027, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "due_at", "said"),
    [
        (MIDNIGHT + HOUR, MIDNIGHT + 22.5 * HOUR, EVENING_RELEASE),
        (MIDNIGHT - HOUR, MIDNIGHT + HOUR / 10, TOMORROW),
        # The same look, when the day has come; and when its time has passed.
        (MIDNIGHT + HOUR / 60, MIDNIGHT + HOUR / 10, DAY_START),
        (MIDNIGHT + HOUR, MIDNIGHT + HOUR / 10, DAY_START),
    ],
)
def test_a_tweet_waiting_for_money_names_the_budget(now, due_at, said):
    assert explain_next_check(Tweet(), due_at, Plan(()), now=now, waits_for_money=True) == said


def test_a_postponed_tweet_day_is_explained(staff):
    Interval.objects.all().delete()
    adapts = {"accuracy": 0.05, "at_most": timedelta(seconds=60), "at_least": timedelta(hours=20)}
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0, **adapts)
    Stretch.objects.create(pk=1, money=80.0, days_demand=100.0, days_room=25.0)

    # Eighty times the usual half hour.
    shown = page(staff, wait=40 * 3600, pace=0)

    assert "times the usual, since the budgets allow 25% of the tweet-days." in shown


def adapts(**fields):
    Interval.objects.all().delete()
    row = {"accuracy": 0.05, "at_most": timedelta(seconds=60), "at_least": timedelta(hours=3)}
    IntervalFactory(younger_than=DAY, every=HOUR, jitter=0, **row)
    return Stretch.objects.create(pk=1, **fields)


USUAL = adapted_wait(7200, 0.2 / 3600, Bounds(0.05, 60, 10800))


def test_the_share_of_look_ups_is_the_same_on_all_pages(staff):
    row = adapts(windows=1.4, demand=10.0, room=8.35)

    shown = page(staff, wait=1.4 * USUAL, pace=0.2 / 3600)

    assert "1.4 times the usual, since X's windows have room for 71% of the look-ups." in shown
    assert "71%" in of_windows(row)


def test_the_explanation_uses_the_stretch_of_its_planning(staff):
    """There is room for all again, and money is short since."""
    adapts(windows=1.0, demand=10.0, room=50.0, money=3.0, days_demand=100.0, days_room=25.0)
    now, _ = current()
    StretchMinute.objects.create(minute=now - HOUR / 2, windows=1.0, money=1.0)
    StretchMinute.objects.create(minute=now, windows=1.0, money=3.0)
    page(staff, wait=60)
    looked_at = now - HOUR / 10
    Tweet.objects.update(measured_until=looked_at, created_at=looked_at - 2 * HOUR, pace=0.2 / 3600)

    def explanation(stretch):
        StretchMinute.objects.filter(minute__lt=now).update(windows=stretch)
        TweetUpdate.objects.update(due_at=looked_at + timedelta(seconds=2 * USUAL))
        return unescape(staff.get("/tweets/7/").content.decode())

    assert "2.0 times the usual, since X's windows had too little room." in explanation(2.0)
    assert "2.0 times the usual, since it was put off" in explanation(1.0)


def test_a_missing_tweet_has_no_such_explanation(staff):
    now, _ = current()

    assert "Why then" not in page(staff, wait=60, missing_since=now, missing_reason="not_found")
