"""Events and attempts lie by days, and go when they are old, but never one that still waits."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from tests.events.conftest import books, deliver, fanned_out, line, subscriber, take
from trackers import tasks
from trackers.events.audit import mend
from trackers.events.delivery.models import Attempt
from trackers.events.drop import drop_oldest, storage_findings, used_bytes
from trackers.events.models import EventBatch
from trackers.events.prune import (
    ATTEMPT_PARTITIONS,
    EVENT_PARTITIONS,
    EVENTS_KEPT_FOR,
    make_ahead,
    prune_events,
    prune_strays,
)
from trackers.outbox.findings import update_findings
from trackers.outbox.models import Event
from trackers.outbox.publish import NewEvent, publish_events
from tweetwatch.pieces import Deadline

DAY = timedelta(days=1)
NEVER = Deadline(float("inf"))


def in_partition(of, table):
    with connection.cursor() as db:
        db.execute(f"SELECT count(*) FROM {of.covering(datetime.now(UTC)).name}")
        [(count,)] = db.fetchall()
    return count == table.objects.count() > 0


def test_daily_partitions_are_dropped_once_no_event_waits():
    now = datetime.now(UTC)
    assert make_ahead(now=now) == 8
    assert make_ahead(now=now) == 0
    subscriber()
    fanned_out(1, 2)
    batches = take()
    late = now + EVENTS_KEPT_FOR + 2 * DAY

    assert in_partition(EVENT_PARTITIONS, Event)
    deliver(batches, delivered=False)
    assert in_partition(ATTEMPT_PARTITIONS, Attempt)
    prune_events(now=late)
    assert (Event.objects.count(), Attempt.objects.count()) == (2, 0)

    EventBatch.objects.all().delete()
    prune_events(now=late)
    assert not Event.objects.exists()


def test_events_in_the_default_partition_are_pruned():
    now = datetime.now(UTC)
    subscriber()
    fanned_out(1, 2)
    batches = take()

    prune_strays(now=now + EVENTS_KEPT_FOR + DAY, deadline=NEVER)
    assert Event.objects.count() == 2
    deliver(batches)
    assert prune_strays(now=now + EVENTS_KEPT_FOR + DAY, deadline=NEVER).rows == 3

    assert not Event.objects.exists()
    assert not Attempt.objects.exists()


def test_over_the_limit_the_oldest_batches_are_dropped_first_and_the_current_last():
    shop = subscriber(max_events=2, timeout_ms=3_600_000)
    fanned_out(1, 2, 3, 4, 5)
    used = used_bytes()

    assert drop_oldest(most_bytes=2 * used, deadline=NEVER).events == 0
    dropped = drop_oldest(most_bytes=used, deadline=NEVER)

    assert dropped.events > 0
    assert used_bytes() == used - dropped.bytes
    assert books()[2] == dropped.events
    assert line(shop)[-1:] in ([("current", 5)], [])


def test_a_batch_being_sent_is_not_dropped():
    subscriber(max_events=1, concurrency=1)
    fanned_out(1, 2, 3)
    [batch] = take()

    drop_oldest(most_bytes=1, deadline=NEVER)

    assert list(EventBatch.objects.values_list("id", flat=True)) == [batch.id]
    deliver([batch])
    assert books() == (3, 1, 2, 0)


def storage_news(now):
    return [news.what for news in update_findings(storage_findings(most_bytes=1), now=now)]


def test_too_much_on_its_way_raises_an_alert(settings):
    settings.BUS_STORAGE_MOST = 1
    now = datetime.now(UTC)
    subscriber(max_events=1, concurrency=1)
    fanned_out(1, 2)
    [batch] = take()

    tasks.tend_subscribers()
    assert storage_news(now) == []
    [alert] = storage_news(now + timedelta(minutes=2))
    assert "too little of it can be dropped" in alert

    deliver([batch])
    assert storage_news(now + timedelta(minutes=3)) == [
        "No more waits for subscribers than BUS_STORAGE_MOST."
    ]


LIMIT = 100_000_000


@pytest.mark.parametrize("bytes", [20_000, 2_000_000])
def test_dropping_keeps_most_of_the_limit_and_the_newest_whatever_their_size(bytes):
    shop = subscriber(timeout_ms=3_600_000)
    fanned_out(1)
    with connection.cursor() as db:
        db.execute(
            """
            INSERT INTO trackers_eventbatch (uid, subscriber_id, state, is_current, place, events,
                                             keys, bytes, first_at, last_at, made_at, deadline,
                                             last_error)
            SELECT gen_random_uuid(), %(shop)s, 'ready', false, n, ARRAY[n], ARRAY[0], %(bytes)s,
                   now(), now(), now() - (10000 - n) * interval '1 s', now(), ''
            FROM generate_series(1, %(count)s) n
            """,
            {"shop": shop.pk, "bytes": bytes, "count": 12 * LIMIT // 10 // bytes},
        )
    mend()
    before = list(shop.batches.order_by("is_current", "made_at").values_list("pk", flat=True))
    used = used_bytes()

    dropped = drop_oldest(most_bytes=LIMIT, deadline=NEVER)

    after = list(shop.batches.order_by("is_current", "made_at").values_list("pk", flat=True))
    assert after == before[len(before) - len(after) :]
    assert used - dropped.bytes == used_bytes() == sum(shop.batches.values_list("bytes", flat=True))
    assert 0.9 * LIMIT - bytes < used_bytes() <= 0.9 * LIMIT


def test_an_address_counts_as_bytes_without_data_and_data_without_an_address():
    subscriber(max_events=1)
    address = f"https://here.example/{'x' * 1000}"
    publish_events([NewEvent("news", "create", url=address)])
    publish_events([NewEvent("news", "create", data={"text": "x" * 500})])
    fanned_out()

    with_address, with_data = EventBatch.objects.order_by("place").values_list("bytes", flat=True)
    assert with_address == 200 + len(address)
    assert with_data >= 200 + 500
