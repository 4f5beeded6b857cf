"""What was delivered can be delivered once more, to one subscriber alone."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.events.conftest import books, deliver, fanned_out, line, numbers, subscriber, take
from trackers.events import redelivery
from trackers.events.fan_out import fan_out
from trackers.events.models import Attempt, EventBatch
from trackers.outbox.models import Event, Topic

LONG = {"timeout_ms": 3_600_000}


def test_a_period_is_replayed_to_one_subscriber_of_its_topics():
    first, other = subscriber("one"), subscriber("other", ["news", "sports"], **LONG)
    fanned_out(1, 2)
    fanned_out(3, topic="sports")
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


def test_a_batch_of_the_log_is_redelivered_under_a_new_id():
    shop = subscriber(max_events=2)
    fanned_out(1, 2, 3)
    first, _ = take()
    deliver([first])

    assert redelivery.redeliver(shop, first.uid) == 2
    fan_out()

    assert line(shop) == [("pending", 3), ("ready", 1, 2)]
    assert not EventBatch.objects.filter(uid=first.uid).exists()


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
    fan_out()

    [batch] = take()
    [event] = Event.objects.filter(id__in=batch.events)
    assert (event.type, event.topic.name) == ("noop", topics[0] if topics else "tweets")
    assert line(other) == []


@pytest.mark.parametrize(
    "filters", [{"authors": [7]}, {"sources": [7]}, {"metric": "likes", "at_least": 10**9}]
)
def test_test_events_and_events_without_a_tweet_pass_tweet_filters(filters):
    one = subscriber(**filters)
    fanned_out(1)
    redelivery.test(one)
    fan_out()

    [batch] = take()
    assert len(batch.events) == 2
