"""Many publish and many deliver, some of whom fail or fall silent: the books are exact."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from tests.events.conftest import deliver, subscriber, take
from trackers.events.audit import audit
from trackers.events.books import read_books
from trackers.events.delivery.settle import recover
from trackers.events.fan_out import fan_out
from trackers.events.models import EventBatch, SubscriberState
from trackers.outbox.models import Event, Staged
from trackers.outbox.publish import NewEvent, publish_events

pytestmark = pytest.mark.django_db(transaction=True)

PUBLISHERS, DELIVERERS, ROUNDS = 6, 5, 25
NO_WAIT = timedelta(milliseconds=1)
# Long enough for most to settle in time.
LEASE = timedelta(milliseconds=500)


def publish(seed):
    chance = random.Random(seed)
    try:
        for round in range(ROUNDS):
            with transaction.atomic():
                topics = chance.choices(("news", "sports"), k=chance.randint(1, 30))
                publish_events(
                    [
                        NewEvent(topic, "create", url=f"https://x.y/{seed}-{round}")
                        for topic in topics
                    ]
                )
                if chance.random() < 0.05:
                    transaction.set_rollback(True)
    finally:
        connection.close()


def deliver_some(seed, ended, delivered):
    chance = random.Random(seed)
    try:
        while not ended.is_set():
            fan_out()
            recover()
            for batch in take(3, LEASE):
                state = SubscriberState.objects.filter(subscriber=batch.subscriber_id)
                state.update(health=100, not_before=None)
                fate = chance.random()
                if fate < 0.05:
                    continue
                if fate < 0.1:
                    deliver([batch], delivered=False, most=NO_WAIT)
                elif deliver([batch]):
                    delivered.update((batch.subscriber_id, id) for id in batch.events)
    finally:
        connection.close()


def test_whatever_happens_each_subscriber_gets_each_event_counted_once():
    wants = {"all": ["news", "sports"], "strict": ["news"], "single": ["sports"]}
    made = {
        "all": subscriber("all", wants["all"], max_events=20, timeout_ms=20),
        "strict": subscriber("strict", wants["strict"], max_events=7, ordered=True),
        "single": subscriber("single", wants["single"], max_events=1, concurrency=50),
    }
    ended, delivered = threading.Event(), Counter()

    with ThreadPoolExecutor(PUBLISHERS + DELIVERERS) as pool:
        deliverers = [
            pool.submit(deliver_some, seed, ended, delivered) for seed in range(DELIVERERS)
        ]
        try:
            publishers = [pool.submit(publish, seed) for seed in range(PUBLISHERS)]
            for publisher in publishers:
                publisher.result(120)
            # As long as it moves it ends; the test's own time-out is the deadline.
            while Staged.objects.exists() or EventBatch.objects.exists():
                ended.wait(0.05)
                for publisher in deliverers:
                    assert not publisher.done() or publisher.result(), "a deliverer ended"
        finally:
            ended.set()
        for publisher in deliverers:
            publisher.result(60)

    topics = dict(Event.objects.values_list("id", "topic__name"))
    due = {
        (made[name].pk, id) for name, names in wants.items() for id in topics if topics[id] in names
    }
    assert delivered == Counter(due)
    assert [one for one in audit() if not one.is_sound] == []
    for books in read_books():
        assert books.added == books.delivered == sum(one == made[books.name].pk for one, _ in due)
