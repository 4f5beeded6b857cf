"""A batch is claimed by one, and ends in one way: delivered, failed, or taken back."""

from datetime import timedelta
from itertools import pairwise

import pytest
from django.db.models import F
from django.utils import timezone

from tests.events.conftest import (
    A_MINUTE,
    books,
    deliver,
    fanned_out,
    line,
    numbers,
    subscriber,
    take,
)
from trackers.events.delivery.claim import claim_batches, promote
from trackers.events.delivery.models import Attempt
from trackers.events.delivery.settle import recover
from trackers.events.models import EventBatch, Subscriber, SubscriberState

AN_HOUR = timedelta(hours=1)


def pass_time(by=AN_HOUR):
    """What waits has waited for so long."""
    EventBatch.objects.update(deadline=F("deadline") - by)
    EventBatch.objects.filter(state="pending").update(leased_until=F("leased_until") - by)
    SubscriberState.objects.exclude(not_before=None).update(not_before=F("not_before") - by)


def outcomes():
    return list(Attempt.objects.order_by("id").values_list("number", "outcome", "status"))


def test_a_batch_is_ready_at_its_deadline_and_not_before():
    shop = subscriber(timeout_ms=3_600_000)
    fanned_out(1)
    assert take() == []

    pass_time()
    [batch] = take()

    assert (numbers(batch.events), batch.attempt) == ([1], 1)
    assert line(shop) == [("pending", 1)]
    assert take() == []


def test_a_delivered_batch_is_deleted_and_counted():
    subscriber()
    fanned_out(1, 2)
    batches = take()

    assert deliver(batches, status=204) == {batch.id for batch in batches}

    assert not EventBatch.objects.exists()
    assert books() == (2, 2, 0, 0)
    assert outcomes() == [(1, "delivered", 204)]


def test_a_failed_batch_is_retried_unchanged_while_new_events_form_others():
    shop = subscriber()
    fanned_out(1, 2)
    [batch] = take()

    deliver([batch], delivered=False, status=500, error="It answered 500.")
    fanned_out(3)

    assert line(shop) == [("early", 1, 2), ("current", 3)]
    [other] = take()
    assert numbers(other.events) == [3]
    pass_time()
    [again] = take()
    assert (again.uid, again.events, again.attempt) == (batch.uid, batch.events, 2)
    assert EventBatch.objects.get(id=again.id).last_error == "It answered 500."
    assert books() == (3, 0, 0, 3)


def test_a_settlement_that_comes_too_late_changes_nothing_and_is_logged():
    subscriber()
    fanned_out(1)
    [batch] = take()
    pass_time()
    assert recover() == 1
    pass_time()
    [again] = take()

    assert deliver([batch]) == set()
    assert books() == (1, 0, 0, 1)
    assert deliver([again]) == {again.id}
    assert deliver([again]) == set()

    assert books() == (1, 1, 0, 0)
    assert outcomes() == [
        (1, "lost", None), (1, "late", None), (2, "delivered", None), (2, "late", None)
    ]  # fmt: skip


def test_a_failed_batch_blocks_an_ordered_subscriber_and_no_other():
    for name, ordered in (("strict", True), ("loose", False)):
        subscriber(name, ordered=ordered, max_events=1)
    fanned_out(1, 2)
    batches = take()
    strict = Subscriber.objects.get(name="strict")
    assert sorted(numbers(b.events)[0] for b in batches if b.subscriber_id == strict.pk) == [1]
    assert len(batches) == 3

    deliver(batches, delivered=False)

    assert take() == []
    assert line(strict) == [("early", 1), ("ready", 2)]
    EventBatch.objects.filter(subscriber=strict).update(deadline=F("deadline") - AN_HOUR)
    [head] = take()
    assert numbers(head.events) == [1]
    deliver([head])
    [next] = take()
    assert numbers(next.events) == [2]


def test_first_attempts_go_before_retries_which_still_have_what_room_is_left():
    shop = subscriber(max_events=1, concurrency=2)
    fanned_out(1, 2, 3)
    deliver(take(2), delivered=False, status=422)
    pass_time()

    batches = take()

    assert [numbers(batch.events) for batch in batches] == [[1], [3]]
    assert [batch.attempt for batch in batches] == [2, 1]
    assert line(shop) == [("pending", 1), ("ready", 2), ("pending", 3)]


def test_concurrent_batches_of_a_subscriber_are_limited():
    subscriber(concurrency=2, max_events=1)
    fanned_out(1, 2, 3, 4)

    first = take()

    assert [numbers(one.events) for one in first] == [[1], [2]]
    assert take() == []
    deliver(first[:1])
    assert [numbers(one.events) for one in take()] == [[3]]


def test_free_slots_rotate_among_subscribers_that_may_receive():
    for name in "abc":
        subscriber(name, max_events=1, concurrency=1)
    fanned_out(1, 2)
    busy = take(2)
    assert len(busy) == 2

    [third] = take(2)

    assert third.subscriber_id not in {one.subscriber_id for one in busy}


@pytest.mark.parametrize("how", ["paused", "disabled", "gated"])
def test_no_batch_is_claimed_for_a_subscriber_that_is(how):
    one = subscriber()
    state = SubscriberState.objects.filter(subscriber=one)
    fanned_out(1)
    later = timezone.now() + AN_HOUR
    if how == "paused":
        Subscriber.objects.update(paused_at=later)
    else:
        state.update(**{"disabled": {"disabled_at": later}, "gated": {"not_before": later}}[how])
    assert take() == []

    Subscriber.objects.update(paused_at=None)
    state.update(disabled_at=None, not_before=None)
    assert len(take()) == 1


@pytest.mark.parametrize(
    ("tried_earlier_by", "first"),
    [
        pytest.param(timedelta(seconds=4), "well", id="a failing subscriber yields"),
        pytest.param(timedelta(seconds=6), "failing", id="for five seconds"),
    ],
)
def test_a_failing_subscriber_yields_to_the_others_for_a_while(tried_earlier_by, first):
    for name in ("failing", "well"):
        subscriber(name)
    fanned_out(1, 2)
    tried = timezone.now() - A_MINUTE
    SubscriberState.objects.update(attempted_at=tried)
    SubscriberState.objects.filter(subscriber__name="failing").update(
        attempted_at=tried - tried_earlier_by, failing_since=tried
    )

    [batch] = take(slots=1)

    assert Subscriber.objects.get(pk=batch.subscriber_id).name == first


def test_failures_cost_health_and_lower_health_waits_longer():
    one = subscriber(max_events=1)
    state = SubscriberState.objects.filter(subscriber=one)
    waits = []
    for health in (100, 10, 3, 0):
        state.update(health=health, not_before=None)
        fanned_out(1)
        [batch] = take(1)
        began = timezone.now()
        deliver([batch], delivered=False)
        EventBatch.objects.all().delete()
        row = state.get()
        assert row.health == max(0, health - 2)
        assert row.failing_since is not None
        waits.append((row.not_before - began).total_seconds())

    assert waits == sorted(waits)
    assert waits[0] < 1
    assert 60 <= waits[-1] < 100
    state.update(added=0, not_before=None)
    fanned_out(1)
    deliver(take())
    assert (state.get().health, state.get().failing_since) == (1, None)


def test_retry_after_is_obeyed_and_410_disables():
    one = subscriber()
    state = SubscriberState.objects.filter(subscriber=one)
    fanned_out(1)
    deliver(take(), delivered=False, status=429, retry_after=AN_HOUR / 2)
    assert state.get().not_before > timezone.now() + AN_HOUR / 3
    fanned_out(2)
    assert take() == []

    pass_time()
    deliver(take(), delivered=False, status=410)

    assert "410" in state.get().disabled_reason
    pass_time()
    assert take() == []
    assert books() == (2, 0, 0, 2)


def test_a_batch_waits_longer_after_each_attempt_up_to_a_maximum():
    subscriber()
    fanned_out(1)
    waits = []
    for _ in range(9):
        pass_time()
        SubscriberState.objects.update(health=100)
        [batch] = take()
        began = timezone.now()
        deliver([batch], delivered=False, most=A_MINUTE)
        waits.append((EventBatch.objects.get().deadline - began).total_seconds())

    assert waits[0] < 2
    assert waits[-1] < 100
    assert all(later > earlier / 1.5 for earlier, later in pairwise(waits))
    assert waits[-1] > 60 > waits[4]


def test_a_running_lease_is_left_alone():
    subscriber()
    fanned_out(1)
    take()

    assert recover() == 0
    assert promote() == 0
    assert claim_batches(10, A_MINUTE) == []


def test_a_retry_after_stands_when_another_batch_is_delivered():
    shop = subscriber(max_events=1)
    fanned_out(1, 2, 3)
    first, second, third = take()
    deliver([first], delivered=False, status=429, retry_after=AN_HOUR)

    deliver([second, third])

    state = SubscriberState.objects.get(subscriber=shop)
    assert state.not_before > timezone.now() + AN_HOUR / 2


def test_blocked_ordered_subscribers_take_no_slot():
    for name in "abc":
        subscriber(name, ordered=True, max_events=1)
    fanned_out(1, 2)
    deliver(take(), delivered=False)
    late = subscriber("late")
    fanned_out(3)
    SubscriberState.objects.exclude(subscriber=late).update(not_before=None, attempted_at=None)

    [batch] = take(1)

    assert batch.subscriber_id == late.pk
