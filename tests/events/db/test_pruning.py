"""Events and attempts lie by days, and go when they are old, but never one that still waits."""

from datetime import UTC, datetime, timedelta

from django.db import connection

from tests.events.conftest import books, deliver, fanned_out, line, subscriber, take
from trackers.events.drop import drop_oldest, used_bytes
from trackers.events.models import Attempt, EventBatch
from trackers.events.prune import (
    ATTEMPT_PARTITIONS,
    EVENT_PARTITIONS,
    EVENTS_KEPT_FOR,
    make_ahead,
    prune_events,
    prune_strays,
)
from trackers.outbox.models import Event
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
