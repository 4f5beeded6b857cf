"""Subscribers to whom nothing can be delivered, and those that are gone."""

from datetime import timedelta

import pytest
from django.db.models import F

from tests.events.conftest import books, deliver, fanned_out, subscriber, take
from trackers import tasks
from trackers.events.models import Subscriber, SubscriberState
from trackers.events.subscribers import acts, disabling
from trackers.history import by_command

A_DAY = timedelta(days=1)


def test_long_failures_disable_a_subscriber_and_publish_an_alert():
    first, other = subscriber("one"), subscriber("other", ["alerts"], timeout_ms=3_600_000)
    fanned_out(1)
    deliver(take(), delivered=False)
    assert disabling.disable_failing(after=A_DAY) == []
    SubscriberState.objects.update(failing_since=F("failing_since") - 2 * A_DAY)

    tasks.tend_subscribers()
    assert disabling.disable_failing(after=A_DAY) == ["one"]
    assert disabling.disable_failing(after=A_DAY) == []
    tasks.tend_subscribers()

    first.state.refresh_from_db()
    assert first.state.disabled_reason.startswith("Nothing but failures since 2")
    assert other.batches.count() == 1
    assert books("one") == (1, 0, 0, 1)


def test_a_success_resets_the_failures():
    shop = subscriber()
    fanned_out(1)
    deliver(take(), delivered=False)
    SubscriberState.objects.update(failing_since=F("failing_since") - 2 * A_DAY)
    fanned_out(2)
    deliver(take())

    assert disabling.disable_failing(after=A_DAY) == []
    shop.state.refresh_from_db()
    assert shop.state.failing_since is None


@pytest.mark.parametrize("delivered", [True, False])
def test_a_removed_subscriber_is_pruned_once_no_batch_is_being_sent(delivered):
    one = subscriber()
    fanned_out(1)
    [batch] = take()
    acts.remove(one, by_command())

    tasks.tend_subscribers()
    assert Subscriber.objects.count() == 1
    deliver([batch], delivered=delivered)
    tasks.tend_subscribers()

    assert not Subscriber.objects.exists()
