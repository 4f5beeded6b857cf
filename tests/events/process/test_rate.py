"""A subscriber with a rate gets no more events a second than that, and none is lost."""

import threading
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.db.models import F

from tests.chaos.ground import wait_until
from tests.events.conftest import deliver, fanned_out, subscriber, take
from tests.events.delivering import attempts, books, delivering, publish
from tests.events.delivering import subscriber as receiving
from tests.events.receivers import Receiver, read_request
from trackers.events.models import SubscriberState

A_MOMENT = {"max_events": 1, "concurrency": 50}


def later(**length):
    """As if so much time had gone by."""
    SubscriberState.objects.update(paced_until=F("paced_until") - timedelta(**length))


@pytest.mark.django_db
def test_reserved_events_are_used_up_before_more_are_reserved():
    subscriber("slow", rate=1, **A_MOMENT)
    subscriber("free", **A_MOMENT)
    fanned_out(*range(5))

    batches = take(100)
    assert sorted(Counter(one.subscriber_id for one in batches).values()) == [1, 5]
    deliver(batches)
    assert take(100) == []
    later(hours=1)
    # What was not asked for in an hour is not made up for.
    assert len(take(100)) == 1
    assert take(100) == []


@pytest.mark.django_db
def test_a_tenth_of_a_second_is_reserved_at_a_time_and_a_large_batch_counts_whole():
    subscriber("many", rate=100, **A_MOMENT)
    fanned_out(*range(30))
    assert len(take(100)) == 10

    subscriber("large", ["sports"], rate=10, max_events=30)
    fanned_out(*range(60), topic="sports")
    [batch] = [one for one in take(100) if len(one.events) == 30]
    later(seconds=2)
    assert not [one for one in take(100) if one.subscriber_id == batch.subscriber_id]
    later(seconds=2)
    assert [one for one in take(100) if one.subscriber_id == batch.subscriber_id]


@pytest.mark.django_db(transaction=True)
def test_events_over_a_socket_arrive_no_faster_than_the_rate():
    came, lock = [], threading.Lock()

    def answer(conn, receiver):
        read_request(conn)
        with lock:
            came.append(time.monotonic())
        conn.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    shop = receiving("slow", Receiver(answer), rate=20, max_events=5)
    publish(40)
    with delivering():
        wait_until(lambda: books(shop)[1] == 40, within=60, what="all are delivered")

    assert attempts(shop) == ["delivered"] * 8
    # The first five at once, a quarter of a second that is made up for, and then 20 a second.
    assert came[-1] - came[0] > (40 - 5) / 20 - 0.25 - 0.1
