"""What status and the pages tell of a queue."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from trackers.jobs import counters, holds, queue
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import QueueCounters
from trackers.jobs.statistics import by_minute, quantile, queue_summary
from trackers.updater.models import TweetUpdate

NAME = "tweet:update"


def move(key, **fields):
    TweetUpdate.objects.filter(key=key).update(**fields)


def test_an_empty_queue_has_statistics():
    summary = queue_summary(NAME)

    assert (summary.due, summary.oldest_due_seconds, summary.in_flight) == (0, 0.0, 0)
    assert (summary.scheduled, summary.isolated, summary.checked_last_minute) == (0, 0, 0)
    assert (summary.lateness_p50_seconds, summary.batch_fill) == (None, None)


def test_due_claimed_and_isolated_keys_are_counted_apart():
    for key in range(1, 8):
        queue.schedule(NAME, key, timedelta(hours=1))
    with connection.cursor() as db:
        db.execute(
            "UPDATE trackers_tweetbucket SET due_at = now() - interval '90 seconds'"
            " WHERE keys[1] <= 4"
        )
    claimed = queue.get(NAME, 2)
    move(7, strikes=4, due_at=datetime(9000, 1, 1, tzinfo=UTC))

    summary = queue_summary(NAME)

    assert len(claimed.keys) == 2
    assert (summary.due, summary.in_flight, summary.scheduled, summary.isolated) == (2, 2, 7, 1)
    assert summary.oldest_due_seconds == pytest.approx(90, abs=1)


def test_counters_add_up_by_minute_and_lateness_comes_from_their_classes():
    late = [0] * (len(QueueCounters.LATENESS) + 1)
    late[2], late[7] = 98, 2
    for _ in range(2):
        counters.count_batch(
            NAME, counters.BatchDone(asked=100, measured=97, changed=50, missing=3, late=late)
        )
    counters.count_batch(NAME, counters.BatchDone(failed=40))

    summary, minutes = queue_summary(NAME), by_minute(NAME)

    assert summary.checked_last_minute == 194
    assert summary.lateness_p50_seconds == QueueCounters.LATENESS[2]
    assert summary.lateness_p99_seconds == QueueCounters.LATENESS[7]
    assert summary.batch_fill == pytest.approx(240 / 3)
    assert [(m.batches, m.asked, m.measured, m.changed, m.failed) for m in minutes] == [
        (3, 200, 194, 100, 40)
    ]


def test_a_batch_of_several_requests_is_counted_by_request():
    counters.count_batch(NAME, counters.BatchDone(requests=10, asked=900, failed=100))
    counters.count_batch(NAME, counters.BatchDone(requests=2, asked=140))

    assert queue_summary(NAME).batch_fill == pytest.approx((1000 + 140) / 12)
    assert by_minute(NAME)[0].batches == 12


@pytest.mark.parametrize(
    ("counts", "share", "told"),
    [
        pytest.param([], 0.5, None, id="nothing was done"),
        pytest.param([(1, 0)], 0.5, None, id="nothing was counted"),
        pytest.param([(1, 10)], 0.99, 0.1, id="all in the first class"),
        pytest.param([(1, 99), (3, 1)], 0.99, 0.1, id="just reached"),
        pytest.param([(1, 98), (3, 2)], 0.99, 0.5, id="just not reached"),
        pytest.param([(14, 5)], 0.5, 3600.0, id="later than all classes"),
    ],
)
def test_a_quantile_is_the_bound_of_its_class(counts, share, told):
    assert quantile(counts, share) == told


def test_the_third_failure_in_a_row_holds_the_queue_longer_each_time():
    Queue.objects.filter(name=NAME).update(
        retry_first=timedelta(seconds=10), retry_most=timedelta(seconds=60)
    )

    def held_for():
        with connection.cursor() as db:
            db.execute(
                "SELECT extract(epoch FROM held_until - now()) FROM trackers_queue WHERE name = %s",
                [NAME],
            )
            return db.fetchone()[0]

    def let_the_hold_pass():
        Queue.objects.filter(name=NAME).update(held_until=None)

    waits = [holds.record_failure(NAME, because="X is out of order") for _ in range(2)]
    assert held_for() is None
    assert all(8 <= wait.total_seconds() <= 12 for wait in waits)
    holds.record_failure(NAME, because="X is out of order")
    third = held_for()
    holds.record_failure(NAME, because="somebody who was on his way before")
    assert held_for() == third
    let_the_hold_pass()
    holds.record_failure(NAME, because="X is out of order")
    fourth = held_for()
    for _ in range(6):
        let_the_hold_pass()
        holds.record_failure(NAME, because="X is out of order")

    assert 8 <= third <= 12
    assert 16 <= fourth <= 24
    assert held_for() <= 60 * 1.2
    holds.record_success(NAME)
    assert Queue.objects.get(name=NAME).failures == 0


def test_batches_without_lateness_can_be_counted():
    for _ in range(2):
        counters.count_batch(NAME, counters.BatchDone(failed=1))

    assert by_minute(NAME)[0].failed == 2
