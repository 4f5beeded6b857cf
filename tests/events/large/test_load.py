"""What is claimed is read with its events: in their order, and by their keys alone."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.events.delivering import publish, subscriber
from tests.plans import watched
from trackers.events.delivery.claim import claim_batches, promote
from trackers.events.delivery.load import load
from trackers.events.fan_out import fan_out_all
from trackers.events.models import EventBatch
from trackers.scores.models import Score
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db
A_MINUTE = timedelta(minutes=1)
FILL = """
    INSERT INTO trackers_event (received_at, topic_id, type, t, url)
    SELECT now() - n * interval '5 s', (SELECT id FROM trackers_topic WHERE name = 'orders'),
           'create', n, 'https://shop.example/old'
    FROM generate_series(1, 20000) n
"""


class Nowhere:
    url = "https://nowhere.example/hook"


def claimed():
    fan_out_all()
    promote()
    return claim_batches(100, A_MINUTE)


def times(outgoing):
    return [event["t"] for event in json.loads(outgoing.body)]


def test_events_are_loaded_in_the_order_of_their_batch():
    one = subscriber("one", Nowhere)
    publish(5)
    fan_out_all()
    batch = EventBatch.objects.get(subscriber=one)
    EventBatch.objects.update(events=batch.events[::-1])

    loaded = load(claimed(), public_url="https://watch.example")

    assert [times(each) for each in loaded.deliveries] == [[5, 4, 3, 2, 1]]


def test_pruned_events_are_left_out_and_an_empty_batch_is_not_sent():
    subscriber("one", Nowhere, max_events=3)
    publish(6)
    fan_out_all()
    with cursor() as db:
        db.execute("DELETE FROM trackers_event WHERE t < 5")

    loaded = load(claimed(), public_url="https://watch.example")

    assert [times(each) for each in loaded.deliveries] == [[5, 6]]
    [impossible] = loaded.impossible
    assert (impossible.delivered, impossible.error) == (False, "Its events are no longer kept.")


def test_a_batch_leased_by_another_process_is_not_read():
    subscriber("one", Nowhere)
    publish()
    batches = claimed()
    EventBatch.objects.update(lease=7)

    loaded = load(batches, public_url="https://watch.example")

    assert loaded.deliveries == []


def test_scores_are_read_for_those_who_want_data():
    plain = subscriber("plain", Nowhere)
    subscriber("with data", Nowhere, with_data=True)
    publish(2)
    with cursor() as db:
        db.execute("UPDATE trackers_event SET tweet_id = t, figures = array_fill(t, ARRAY[12])")
    Score.objects.create(tweet_id=2, at=timezone.now(), views=3.5)

    loaded = load(claimed(), public_url="https://watch.example")

    of = {each.batch.subscriber_id: json.loads(each.body) for each in loaded.deliveries}
    assert all("data" not in event for event in of.pop(plain.pk))
    [(first, second)] = of.values()
    assert "scores" not in first["data"]
    assert second["data"]["scores"] == {"views": 3.5}


def test_events_are_read_by_their_keys(monkeypatch):
    subscriber("one", Nowhere, max_events=10, concurrency=10)
    with cursor() as db:
        db.execute(FILL)
        db.execute("ANALYZE trackers_event")
    publish(100)
    batches = claimed()

    with watched(monkeypatch) as watch:
        loaded = load(batches, public_url="https://watch.example")

    assert sum(len(times(each)) for each in loaded.deliveries) == 100
    reached = [one for one in watch.reached if one.table.startswith("trackers_event_")]
    assert {(one.how, one.rows) for one in reached} == {("Index Scan", 100.0)}
