"""A publication with an Idempotency-Key is stored once, however often it is asked for."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.utils import timezone

from trackers.tokens.idempotency import RETENTIONS
from trackers.tokens.models import IdempotencyKey
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db


def publish(client, topic, key, url="https://shop.example/orders/1", **more):
    body = {"type": "create", "url": url, **more}
    return client.ask("POST", f"/topics/{topic}", body, headers=[f"Idempotency-Key: {key}"])


def events(bus, topic):
    where = "topic_id = (SELECT id FROM trackers_topic WHERE name = %s)"
    [(count,)] = bus.rows(f"SELECT count(*) FROM trackers_event WHERE {where}", topic)
    return count


def test_a_repeated_key_stores_nothing_and_answers_as_before(bus, topic):
    client = bus.client()

    answers = [publish(client, topic, "a key, 1", data={"a": 1, "b": 2}) for _ in range(2)]
    answers.append(publish(client, topic, "a key, 1", data={"b": 2, "a": 1}))

    assert [(one.status, one.body) for one in answers] == [(200, b"")] * 3
    assert events(bus, topic) == 1
    assert publish(client, topic, "2").status == 200
    assert client.publish(topic).status == client.publish(topic).status == 200
    assert events(bus, topic) == 4


def test_a_repeated_key_with_another_body_is_422_and_stores_nothing(bus, topic):
    client = bus.client()
    assert publish(client, topic, "k").status == 200

    for other, more in ((topic, {"url": "https://shop.example/2"}), (f"{topic}_b", {})):
        answer = publish(client, other, "k", **more)
        assert (answer.status, "Idempotency-Key" in answer.sentence) == (422, True)
    assert publish(client, topic, "k", timestamp=7).status == 422

    assert (events(bus, topic), events(bus, f"{topic}_b")) == (1, 0)


def test_the_same_key_of_another_client_is_independent(bus, topic):
    one, other = bus.client(), bus.client()

    assert publish(one, topic, "k").status == 200
    assert publish(other, f"{topic}_b", "k").status == 200

    assert (events(bus, topic), events(bus, f"{topic}_b")) == (1, 1)


def test_a_refused_request_leaves_its_key_unused(bus, topic):
    client = bus.client()

    assert publish(client, topic, "k", url="no address").status == 400
    assert publish(client, topic, "k").status == 200

    for bad in ("", " ", "x" * 256, "é"):
        answer = publish(client, topic, bad)
        assert (answer.status, answer.sentence[:20]) == (400, "Idempotency-Key must")
    assert events(bus, topic) == 1


def test_of_many_concurrent_requests_with_a_key_one_is_stored(bus, topic):
    client = bus.client()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: publish(client, topic, "k"), range(16)))

    assert [one.status for one in answers] == [200] * 16
    assert events(bus, topic) == 1


def test_a_key_can_be_reused_after_a_day(bus, topic):
    client = bus.client()
    publish(client, topic, "k")
    bus.change("UPDATE trackers_idempotencykey SET at = at - interval '24 hours 1 second'")

    assert publish(client, topic, "k", url="https://shop.example/2").status == 200
    assert publish(client, topic, "k", url="https://shop.example/2").status == 200

    assert events(bus, topic) == 2


def test_keys_are_pruned_after_a_day_and_the_oldest_when_there_are_too_many():
    now = timezone.now()
    nil = "00000000-0000-0000-0000-0000000000"
    IdempotencyKey.objects.bulk_create(
        IdempotencyKey(
            token_id=1, key=f"{nil}{n:02}", asked=f"{nil}00", at=now - timedelta(hours=n)
        )
        for n in range(30)
    )

    of_the_bus, of_the_api = RETENTIONS
    assert of_the_api.prune(now=now, deadline=Deadline.after(60), most=10).rows == 0
    assert of_the_bus.prune(now=now, deadline=Deadline.after(60)).rows == 6
    assert IdempotencyKey.objects.count() == 24
    of_the_bus.prune(now=now, deadline=Deadline.after(60), most=10)

    kept = IdempotencyKey.objects.order_by("-at").values_list("key", flat=True)
    assert [int(str(key)[-2:]) for key in kept] == list(range(10))
