"""The broker as django-q2's pusher and monitor call it."""

import time
from collections import Counter
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction
from django_q.models import OrmQ
from django_q.signing import SignedPackage
from django_q.tasks import async_task

from tests.databases import url_of
from tests.jobs.conftest import NAME
from trackers.jobs import queue
from trackers.jobs.broker import PostgresBroker
from trackers.jobs.models import Queue
from trackers.jobs.processes.channel import MessageTooLargeError

pytestmark = pytest.mark.django_db(transaction=True)


def dequeue(broker, *, seconds=30.0):
    """What the broker gives within the time; it answers None while there is nothing."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := broker.dequeue():
            return found
    return None


def test_a_due_batch_becomes_one_signed_task_of_its_queue():
    for key in (3, 1, 2):
        queue.schedule(NAME, key, -timedelta(seconds=10))

    [(ack_id, pack)] = PostgresBroker("tweetwatch").dequeue()

    task = SignedPackage.loads(pack)
    assert task["func"] == "trackers.tasks.update_tweets"
    [batch] = task["args"]
    assert (batch.keys, batch.queue) == ((1, 2, 3), NAME)
    assert ack_id == ("batch", NAME)


def test_a_batch_needs_no_acknowledgement():
    queue.schedule(NAME, 1, -timedelta(seconds=10))
    broker = PostgresBroker("tweetwatch")
    [(ack_id, _)] = broker.dequeue()

    broker.acknowledge(ack_id)
    broker.fail(ack_id)

    assert queue.get(NAME) is None


def test_a_partial_batch_comes_once_its_buffer_ttl_is_over():
    Queue.objects.update(buffer_ttl=timedelta(seconds=0.4))
    broker = PostgresBroker("tweetwatch")
    queue.schedule(NAME, 1, timedelta(0))
    began = time.monotonic()

    assert dequeue(broker)

    assert 0.35 <= time.monotonic() - began < 1.0


def test_a_key_scheduled_before_the_bound_is_still_found():
    broker = PostgresBroker("tweetwatch")
    queue.schedule(NAME, 1, -timedelta(seconds=5))
    assert broker.dequeue()

    queue.schedule(NAME, 2, -timedelta(hours=1))

    began = time.monotonic()
    assert dequeue(broker)
    assert time.monotonic() - began < 2


def test_a_rolled_back_task_is_not_enqueued():
    with transaction.atomic():
        async_task("math.sqrt", 4)
        transaction.set_rollback(True)

    assert OrmQ.objects.count() == 0


def test_an_ordinary_task_is_delivered_once_and_deleted_when_acknowledged():
    async_task("math.sqrt", 4)
    first, other = PostgresBroker("tweetwatch"), PostgresBroker("tweetwatch")

    [(ack_id, pack)] = dequeue(first)

    assert SignedPackage.loads(pack)["func"] == "math.sqrt"
    assert dequeue(other, seconds=1.2) is None
    first.acknowledge(ack_id)
    assert OrmQ.objects.count() == 0


def test_two_brokers_never_wait_for_each_other():
    async_task("math.sqrt", 1)
    async_task("math.sqrt", 2)
    other = psycopg.connect(url_of(connection.settings_dict["NAME"]))
    with other:
        # The first task is in the hands of another pusher whose claim is not committed yet.
        other.execute("SELECT FROM django_q_ormq ORDER BY lock, id LIMIT 1 FOR UPDATE")
        began = time.monotonic()

        [(_, pack)] = PostgresBroker("tweetwatch").dequeue()

        assert SignedPackage.loads(pack)["args"] == (2,)
        assert time.monotonic() - began < 1


def test_tasks_of_another_cluster_name_are_left():
    async_task("math.sqrt", 4, broker=PostgresBroker("another"))
    broker = PostgresBroker("tweetwatch")

    assert dequeue(broker, seconds=0.8) is None
    assert (broker.queue_size(), PostgresBroker("another").queue_size()) == (0, 1)
    broker.purge_queue()
    assert OrmQ.objects.count() == 1


def test_an_oversized_task_is_refused_when_enqueued():
    with pytest.raises(MessageTooLargeError, match="too large"):
        async_task("builtins.len", "x" * 10_000_000)

    assert OrmQ.objects.count() == 0


def test_tasks_are_delivered_during_endless_batches():
    Queue.objects.update(batch_size=1)
    for key in range(100):
        queue.schedule(NAME, key, -timedelta(seconds=10))
    async_task("math.sqrt", 4)
    broker = PostgresBroker("tweetwatch")

    kinds = [dequeue(broker)[0][0][0] for _ in range(3)]

    assert "task" in kinds
    assert "batch" in kinds


def test_ordinary_tasks_and_each_queue_take_turns():
    Queue.objects.update(batch_size=1)
    for name in (NAME, "source:poll"):
        for key in range(10):
            queue.schedule(name, key, -timedelta(hours=1))
    for number in range(20):
        async_task("math.sqrt", number)
    broker = PostgresBroker("tweetwatch")

    lines = [line_of(dequeue(broker)) for _ in range(12)]

    assert Counter(lines) == {"task": 4, NAME: 4, "source:poll": 4}


def test_ordinary_tasks_are_not_slowed_by_idle_queues():
    for number in range(100):
        async_task("math.sqrt", number)
    broker = PostgresBroker("tweetwatch")

    assert all(line_of(broker.dequeue()) == "task" for _ in range(100))


def line_of(found):
    """Whose turn it was: "task", or the queue."""
    [((kind, of), _)] = found
    return of if kind == "batch" else kind


def test_the_broker_reconnects_after_a_lost_connection(caplog):
    broker = PostgresBroker("tweetwatch")
    queue.schedule(NAME, 1, -timedelta(seconds=10))
    with connection.cursor() as db:
        db.execute("SELECT pg_backend_pid()")
        [pid] = db.fetchone()
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    began = time.monotonic()

    found = dequeue(broker)

    assert found
    assert time.monotonic() - began < 2
    assert caplog.text.count("waits for its database") == 1
