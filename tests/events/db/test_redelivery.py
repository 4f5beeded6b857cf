"""What was delivered can be delivered once more, to one subscriber alone."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from tests.events.conftest import books, deliver, fanned_out, line, numbers, subscriber, take
from trackers.bus.probes import count_due
from trackers.events import redelivery
from trackers.events.books import read_books
from trackers.events.delivery.claim import give_back
from trackers.events.delivery.models import Attempt
from trackers.events.delivery.settle import recover
from trackers.events.drop import drop_some, drop_waiting
from trackers.events.fan_out import fan_out
from trackers.events.minutes import hours_of_subscribers
from trackers.events.models import HEALTHY, EventBatch, Subscriber, SubscriberState
from trackers.outbox.models import Event, Topic

LONG = {"timeout_ms": 3_600_000}


def test_a_period_is_replayed_to_one_subscriber_of_its_topics():
    first, other = subscriber("one"), subscriber("other", ["news", "sports"], **LONG)
    fanned_out(1, 2)
    fanned_out(3, topic="sports")
    redelivery.test(first)
    # The test is sent first, and not again.
    deliver([batch for batch in take() if batch.subscriber_id == first.pk])
    began = timezone.now() - timedelta(minutes=5)
    ends = began + timedelta(minutes=10)

    assert redelivery.count_replay(first, began, ends) == 2
    assert redelivery.count_replay(first, began, began) == 0
    assert redelivery.stage_replay(first, began, ends) == 2
    fan_out()

    [batch] = take()
    assert (batch.subscriber_id, numbers(batch.events)) == (first.pk, [1, 2])
    assert books("one") == (4, 2, 0, 2)
    assert line(other) == [("current", 1, 2, 3)]
    assert Topic.objects.get(name="news").events == 2


def test_a_batch_of_the_log_is_sent_once_more_under_its_id_and_counted_nowhere():
    shop = subscriber(max_events=2)
    fanned_out(1, 2, 3)
    first, _ = take()
    deliver([first])

    assert redelivery.redeliver(shop, first.uid) == 2

    assert line(shop) == [("ready", 1, 2), ("pending", 3)]
    assert (books(), count_due(most=100)) == ((3, 2, 0, 1), 1)
    [again] = take()
    assert (again.uid, numbers(again.events), again.attempt) == (first.uid, [1, 2], 1)
    deliver([again])
    assert line(shop) == [("pending", 3)]
    assert books() == (3, 2, 0, 1)
    assert hours_of_subscribers(shop.pk)[shop.pk].events == 2
    assert attempts() == [("events", "delivered"), ("redelivery", "delivered")]


def attempts():
    return list(Attempt.objects.order_by("id").values_list("kind", "outcome"))


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("kind", ["test", "redelivery"])
@pytest.mark.parametrize("status", [500, 422, None])
def test_a_test_and_a_redelivery_are_sent_once_and_cost_no_health(kind, status, ordered):
    """However it fails, or where nobody knows."""
    shop = subscriber(max_events=1, ordered=ordered)
    fanned_out(1, 2)
    [first, *_] = take()
    deliver([first])
    if kind == "test":
        redelivery.test(shop)
    else:
        redelivery.redeliver(shop, first.uid)
    before = SubscriberState.objects.values().get()

    # Of an ordered one, the head comes only when it is over.
    [sent, *_] = take()
    assert sent.kind == kind
    if status:
        deliver([sent], delivered=False, status=status)
    else:
        EventBatch.objects.filter(id=sent.id).update(leased_until=Now() - timedelta(seconds=1))
        assert recover() == 1

    after = SubscriberState.objects.values().get()
    assert before | {"attempted_at": after["attempted_at"]} == after
    assert not EventBatch.objects.filter(kind=kind).exists()
    assert attempts()[1:] == [(kind, "failed" if status else "lost")]
    # Too late: it changes nothing, and is marked as what it is.
    deliver([sent])
    assert attempts()[2:] == [(kind, "late")]
    assert books()[:3] == (2, 1, 0)


def test_a_test_is_no_sign_that_a_receiver_takes_what_it_refuses():
    shop = subscriber(max_events=1)
    fanned_out(1)
    for _ in range(10):
        redelivery.test(shop)
        tried = take()
        deliver([one for one in tried if one.kind == "test"], status=200)
        refused = [one for one in tried if one.kind == "events"]
        deliver(refused, delivered=False, status=422)
        EventBatch.objects.update(deadline=Now())
        SubscriberState.objects.update(not_before=None)

    batch = EventBatch.objects.get()
    assert (batch.attempts, batch.refusals, str(batch.state)) == (10, 1, "early")
    assert SubscriberState.objects.get().health == HEALTHY - 2 * 10


def test_a_test_goes_before_a_line_that_stands():
    shop = subscriber(ordered=True, max_events=1)
    fanned_out(1, 2)
    [head] = take()
    deliver([head], delivered=False, status=500)
    assert take() == []

    redelivery.test(shop)

    [test] = take()
    assert test.kind == "test"
    assert take() == []
    deliver([test])
    assert line(shop) == [("early", 1), ("ready", 2)]


def test_tests_of_a_paused_subscriber_are_neither_counted_nor_dropped_for_space():
    shop = subscriber(max_events=1)
    fanned_out(1, 2)
    [first, second] = take()
    deliver([first])
    Subscriber.objects.update(paused_at=Now())
    redelivery.redeliver(shop, first.uid)
    redelivery.test(shop)
    assert books() == (2, 1, 0, 1)
    [status] = [row for row in read_books() if row.name == "one"]
    assert (status.batches, status.oldest) == (1, second.first_at)

    give_back([second])
    assert drop_some(10**9).events == 1
    assert books() == (2, 1, 1, 0)
    assert EventBatch.objects.count() == 2

    assert drop_waiting(shop) == 0
    assert books() == (2, 1, 1, 0)
    assert not EventBatch.objects.exists()


def test_unknown_batches_are_refused_and_pruned_events_left_out():
    shop = subscriber()
    fanned_out(1)
    [batch] = take()
    deliver([batch])
    with pytest.raises(redelivery.NoSuchBatchError, match="no attempt to deliver"):
        redelivery.redeliver(shop, uuid4())

    Event.objects.all().delete()

    assert redelivery.redeliver(shop, batch.uid) == 0
    assert fan_out() == 0
    assert Attempt.objects.count() == 1


@pytest.mark.parametrize("topics", [["news"], []])
def test_a_test_event_reaches_one_subscriber_whatever_its_topics(topics):
    one, other = subscriber("one", topics), subscriber("other", ["news", "tweets"])

    redelivery.test(one)

    assert count_due(most=100) == 0
    [batch] = take()
    [event] = Event.objects.filter(id__in=batch.events)
    assert (event.type, event.topic.name) == ("noop", topics[0] if topics else "tweets")
    assert books("one") == (0, 0, 0, 0)
    deliver([batch])
    assert books("one") == (0, 0, 0, 0)
    assert line(other) == []


@pytest.mark.parametrize(
    "filters", [{"authors": [7]}, {"sources": [7]}, {"metric": "likes", "at_least": 10**9}]
)
def test_test_events_and_events_without_a_tweet_pass_tweet_filters(filters):
    one = subscriber(**filters)
    fanned_out(1)
    redelivery.test(one)

    assert sorted(len(batch.events) for batch in take()) == [1, 1]
