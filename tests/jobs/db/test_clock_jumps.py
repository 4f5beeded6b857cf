"""A clock that has jumped deletes nothing, until an hour later it has gone on as it should."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db.models import F
from django.utils import timezone

from trackers.events.models import SubscriberMinute
from trackers.jobs.observed.models import ClockReading
from trackers.tasks import prune_sessions, tend_subscribers

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture(autouse=True)
def session():
    """One that is over, and a task that has run before."""
    prune_sessions()
    return Session.objects.create(
        session_key="s", session_data="", expire_date=timezone.now() - MINUTE
    )


def let_pass(time):
    """As seen by a clock that moves on by so much: all that was is longer ago."""
    ClockReading.objects.update(read_at=F("read_at") - time)
    ClockReading.objects.update(doubted_since=F("doubted_since") - time)


def is_kept():
    return Session.objects.exists()


def test_an_hourly_run_deletes():
    let_pass(HOUR)
    prune_sessions()
    assert not is_kept()


@pytest.mark.parametrize("jump", [3 * HOUR, timedelta(days=400), -3 * HOUR])
def test_nothing_is_deleted_after_a_jump_until_a_run_an_hour_later_agrees(jump, caplog):
    let_pass(jump)
    for _ in range(3):
        prune_sessions()
        let_pass(MINUTE)
    assert is_kept()
    assert "prune_sessions deletes nothing" in caplog.text

    let_pass(HOUR)
    prune_sessions()
    assert not is_kept()


def test_nothing_is_deleted_while_a_clock_is_ahead_for_an_hour():
    let_pass(timedelta(days=400))
    prune_sessions()
    # Right again: an hour has passed.
    let_pass(HOUR - timedelta(days=400))
    prune_sessions()
    assert is_kept()

    let_pass(HOUR)
    prune_sessions()
    assert not is_kept()


def test_a_task_that_runs_again_at_once_goes_on():
    for _ in range(3):
        let_pass(MINUTE)
        prune_sessions()
    assert not is_kept()


def test_a_task_of_each_minute_deletes_nothing_after_a_jump_by_two_hours(caplog):
    tend_subscribers()
    minute = SubscriberMinute.objects.create(
        subscriber_id=1, minute=timezone.now() - 3 * HOUR, events=1
    )
    let_pass(2 * HOUR)
    for _ in range(3):
        tend_subscribers()
        let_pass(MINUTE)

    assert SubscriberMinute.objects.exists()
    # Said once, not each minute.
    assert caplog.text.count("tend_subscribers deletes nothing") == 1

    for _ in range(60):
        tend_subscribers()
        let_pass(MINUTE)
    assert not SubscriberMinute.objects.filter(pk=minute.pk).exists()
