"""From what is told to those who get it, over failures of every part."""

import json
import os
import signal
import threading
import time

import psutil
import pytest

from tests.events.delivering import (
    attempts,
    books,
    delivering,
    end_leases,
    process,
    publish,
    subscriber,
)
from tests.events.receivers import FOREVER, Receiver, answers, hangs
from tests.x import wait_until
from trackers.events.models import EventBatch, SubscriberState
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)


def test_events_arrive_in_batches_and_the_counters_match():
    receiver = Receiver(answers("204 No Content"))
    shop = subscriber("one", receiver, uuid="demo", max_events=40)

    with delivering():
        publish(100)
        wait_until(lambda: books(shop)[1] == 100)

    told = [json.loads(got.body) for got in receiver.got]
    assert sorted(len(events) for events in told) == [20, 40, 40]
    assert sorted(event["t"] for events in told for event in events) == [*range(1, 101)]
    assert books(shop) == (100, 100, 0, 0)
    assert attempts(shop) == ["delivered"] * 3


def test_a_hanging_receiver_does_not_slow_another():
    slow, quick = Receiver(hangs), Receiver(answers())
    hung = [subscriber(f"slow{n}", slow, max_events=1) for n in range(5)]
    shop = subscriber("quick", quick, max_events=1)

    with delivering():
        publish(20)
        wait_until(lambda: books(shop)[1] == 20)
        wait_until(lambda: len(slow.got) == 5 * 4)
        began = time.monotonic()
        publish()
        wait_until(lambda: books(shop)[1] == 21)
        took = time.monotonic() - began
        # They hold their slots, and nothing else.
        assert EventBatch.objects.filter(state="pending").count() == 5 * 4
        assert {books(each)[1] for each in hung} == {0}
        slow.close()

    assert took < FOREVER / 3


def ids(receiver):
    return [got.headers["webhook-id"] for got in receiver.got]


def test_a_process_killed_between_the_post_and_its_end_costs_no_event_and_no_count():
    pids = []

    def kills_once(conn, receiver):
        receiver.read(conn)
        if pids:
            os.kill(pids.pop(), signal.SIGKILL)
            return
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    receiver = Receiver(kills_once)
    shop = subscriber("one", receiver)
    publish(3)

    with process() as killed:
        pids.append(killed.pid)
        assert killed.wait(60) == -signal.SIGKILL
    assert books(shop) == (3, 0, 0, 3)
    end_leases()
    with delivering():
        wait_until(lambda: books(shop)[1])

    first, second = receiver.got
    assert ids(receiver) == [ids(receiver)[0]] * 2
    assert first.body == second.body
    assert books(shop) == (3, 3, 0, 0)
    assert attempts(shop) == ["lost", "delivered"]


def test_a_process_stopped_beyond_its_lease_changes_nothing():
    pids, answered = [], threading.Event()

    def stops_once(conn, receiver):
        receiver.read(conn)
        if pids:
            os.kill(pids.pop(), signal.SIGSTOP)
            answered.wait(FOREVER)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    receiver = Receiver(stops_once)
    shop = subscriber("one", receiver)
    publish(3)

    with process() as stopped:
        pids.append(stopped.pid)
        wait_until(lambda: psutil.Process(stopped.pid).status() == psutil.STATUS_STOPPED)
        end_leases()
        with delivering():
            wait_until(lambda: books(shop)[1])
        answered.set()
        os.kill(stopped.pid, signal.SIGCONT)
        wait_until(lambda: "late" in attempts(shop))
        stopped.send_signal(signal.SIGTERM)
        assert stopped.wait(60) == 0, stopped.stderr.read()

    assert books(shop) == (3, 3, 0, 0)
    assert attempts(shop) == ["lost", "delivered", "late"]
    assert ids(receiver) == [ids(receiver)[0]] * 2


def test_a_stopping_process_settles_deliveries_under_way_and_releases_the_rest(firewall):
    answered = threading.Event()

    def answers_late(conn, receiver):
        receiver.read(conn)
        answered.wait(FOREVER)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    class Unreachable:
        url = f"http://127.0.0.1:{firewall.port}/"

    receiver = Receiver(answers_late)
    first, other = subscriber("one", receiver), subscriber("other", Unreachable)
    publish()

    with delivering():
        wait_until(lambda: receiver.got and EventBatch.objects.filter(state="pending").count() == 2)
        threading.Timer(0.3, answered.set).start()

    assert books(first) == (1, 1, 0, 0)
    assert books(other) == (1, 0, 0, 1)
    [back] = EventBatch.objects.values_list("state", "attempts", "lease")
    assert back == ("ready", 0, None)
    assert attempts(other) == []


def test_a_batch_is_not_sent_when_its_lease_would_end_first():
    receiver = Receiver(answers())
    shop = subscriber("one", receiver)
    publish()

    with delivering(total=FOREVER, lease=FOREVER):
        wait_until(lambda: SubscriberState.objects.get(pk=shop.pk).attempted_at)

    assert receiver.connections == 0
    assert EventBatch.objects.values_list("state", "attempts").get() == ("ready", 0)
    assert attempts(shop) == []


def test_delivery_waits_for_an_unreachable_database(caplog):
    receiver = Receiver(answers())
    shop = subscriber("one", receiver)
    end_all = """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND backend_type = 'client backend'
    """

    with delivering():
        for told in range(1, 4):
            publish()
            wait_until(lambda told=told: books(shop)[1] == told)
            with cursor() as db:
                db.execute(end_all)
        wait_until(lambda: "because the database failed" in caplog.text)

    assert books(shop) == (3, 3, 0, 0)


def test_a_410_ends_deliveries_and_a_429_is_obeyed():
    gone, busy = (
        Receiver(answers("410 Gone")),
        Receiver(answers("429 Too Many Requests", headers="Retry-After: 900\r\n")),
    )
    first, second = subscriber("first", gone), subscriber("second", busy)

    with delivering():
        publish()
        wait_until(lambda: attempts(first) and attempts(second))
        publish()
        wait_until(lambda: books(first)[0] == books(second)[0] == 2)

    assert (len(gone.got), len(busy.got)) == (1, 1)
    state = SubscriberState.objects.get(pk=first.pk)
    assert state.disabled_reason == "It answered 410 Gone: it wants no more."
    with cursor() as db:
        [(wait,)] = db.execute(
            "SELECT extract(epoch FROM not_before - now()) FROM trackers_subscriberstate"
            " WHERE subscriber_id = %s",
            [second.pk],
        ).fetchall()
    assert 800 < wait < 1000


def test_undecryptable_secrets_block_only_their_own_subscriber():
    receiver = Receiver(answers())
    spoilt, fine = subscriber("spoilt", receiver), subscriber("fine", receiver)
    with cursor() as db:
        db.execute("UPDATE trackers_subscriber SET secrets = 'x' WHERE id = %s", [spoilt.pk])

    with delivering():
        publish()
        wait_until(lambda: books(fine)[1] == 1 and attempts(spoilt))

    failed = EventBatch.objects.get(subscriber=spoilt)
    assert "cannot be decrypted with any key in FIELD_KEYS" in failed.last_error
    assert len(receiver.got) == 1
