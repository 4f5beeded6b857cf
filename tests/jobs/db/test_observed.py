"""What a cluster records of its queues, its tasks and its database, and how little that stays."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils.timezone import now

from tests.factories import TweetUpdateFactory
from trackers import tasks
from trackers.jobs import statistics
from trackers.jobs.batch import Batch
from trackers.jobs.observed import database, minutes
from trackers.jobs.observed import tasks as noted
from trackers.jobs.observed.minutes import by_time
from trackers.jobs.observed.models import (
    DatabaseMinute,
    NotedTask,
    QueueCounters,
    QueueHour,
    QueueMinute,
)
from trackers.jobs.observed.tasks import MAX_NOTED_TASKS
from trackers.tweets.pack import SAMPLES

A_MINUTE, AN_HOUR = timedelta(minutes=1), timedelta(hours=1)


def this_minute():
    """By the clock of the database, which is that of its transaction."""
    with connection.cursor() as db:
        db.execute("SELECT date_trunc('minute', now())")
        return db.fetchone()[0]


def counters(minute, **given):
    values = {"queue": "tweet:update", "host": "h", "pid": 1, "late": []}
    QueueCounters.objects.create(minute=minute, **{**values, **given})


def again():
    """As after some seconds: the figures of a moment ago are too fresh to be taken again."""
    statistics.QueueStatistics.objects.update(taken_at=now() - A_MINUTE)
    statistics.record_summary("tweet:update", then=minutes.record_queue_minute)


def test_a_minute_keeps_the_largest_depth_and_age():
    TweetUpdateFactory.create_batch(3, due_at=now() - timedelta(seconds=90))
    statistics.record_summary("tweet:update", then=minutes.record_queue_minute)
    TweetUpdateFactory.create_batch(2, due_at=now() - timedelta(seconds=10))
    again()
    with connection.cursor() as db:
        db.execute("DELETE FROM trackers_tweetupdate")
    again()

    [row] = QueueMinute.objects.all()
    assert (row.queue, row.due) == ("tweet:update", 5)
    assert 80 < row.oldest_due_seconds < 600


def test_the_throughput_of_a_minute_is_added_once_it_is_over():
    last = this_minute() - A_MINUTE
    QueueMinute.objects.create(
        queue="tweet:update", minute=last, due=1, oldest_due_seconds=2, in_flight=0
    )
    counters(last, measured=700, failed=1)
    counters(last, measured=300, failed=2, pid=2)
    counters(last, measured=5, queue="source:poll")

    statistics.record_summary("tweet:update", then=minutes.record_queue_minute)

    row = QueueMinute.objects.get(minute=last)
    assert (row.measured, row.failed) == (1000, 3)


def test_the_recorder_writes_minutes_of_queues_and_the_database():
    tasks.record_statistics()

    assert QueueMinute.objects.count() == 5
    assert DatabaseMinute.objects.count() == 1
    tasks.record_statistics()
    assert DatabaseMinute.objects.count() == 1


def test_finished_hours_are_summed_up_and_old_rows_pruned():
    hour = now().replace(minute=0, second=0, microsecond=0) - 2 * AN_HOUR
    params = {"queue": "tweet:update", "in_flight": 0}
    for at, due, measured in ((0, 7, 100), (30, 9, 50), (59, 1, None)):
        QueueMinute.objects.create(
            **params, minute=hour + at * A_MINUTE, due=due, oldest_due_seconds=due,
            measured=measured, failed=measured and 1,
        )  # fmt: skip
    QueueMinute.objects.create(
        **params, minute=now() - 27 * AN_HOUR, due=1, oldest_due_seconds=1, measured=1
    )
    QueueHour.objects.create(**params, hour=now() - timedelta(days=32), due=1, oldest_due_seconds=1)
    minutes.sum_up_hours()
    minutes.sum_up_hours()

    [row] = QueueHour.objects.all()
    assert (row.hour, row.due, row.measured, row.failed) == (hour, 9, 150, 2)
    assert QueueMinute.objects.count() == 3


def test_periods_are_read_in_steps_of_minutes_or_hours():
    minute = this_minute()
    for back in (1, 2, 20):
        QueueMinute.objects.create(
            queue="tweet:update", minute=minute - back * A_MINUTE, due=back,
            oldest_due_seconds=0, in_flight=0, measured=10,
        )  # fmt: skip
    QueueHour.objects.create(
        queue="tweet:update", hour=now() - timedelta(days=3), due=4, oldest_due_seconds=0,
        in_flight=0,
    )  # fmt: skip

    by_minute = by_time(over=AN_HOUR, step=A_MINUTE)["tweet:update"]
    assert [one.due for one in by_minute] == [20, 2, 1]
    by_day = by_time(over=timedelta(days=1), step=15 * A_MINUTE)["tweet:update"]
    assert sum(one.measured for one in by_day) == 30
    assert len(by_day) < 4
    [one] = by_time(over=timedelta(days=30), step=6 * AN_HOUR)["tweet:update"]
    assert (one.due, one.measured) == (4, None)


def test_rows_of_a_period_are_found_by_their_index():
    with connection.cursor() as db:
        db.execute(
            "INSERT INTO trackers_queueminute (queue, minute, due, oldest_due_seconds,"
            " in_flight) SELECT 'q' || n % 5, now() - n / 5 * interval '1 minute', 1, 1, 1"
            " FROM generate_series(0, 20000) n"
        )
        db.execute("ANALYZE trackers_queueminute")
        statement = minutes.BY_MINUTES.replace("%(step)s", "'1 min'").replace("%(over)s", "'1 h'")
        db.execute(f"EXPLAIN {statement}")
        plan = "\n".join(row[0] for row in db.fetchall())

    assert "queueminute_minute" in plan
    assert "Seq Scan" not in plan


# Tasks, as django-q2's worker tells of their ends.


def run(name="trackers.tasks.vacuum_queues", *, args=(), because="", took=0.0, **fields):
    noted.on_task_begin()
    noted.running.since -= took
    if because:
        noted.failed_because(because)
    told = {"name": "red-fox", "func": name, "args": args, "success": True, "result": None}
    noted.on_task_end({**told, **fields})


def test_a_quick_successful_task_leaves_no_row():
    run()
    assert not NotedTask.objects.exists()


def test_a_slow_batch_is_recorded_with_size_and_duration():
    batch = Batch(1, (7, 8, 9), now(), now(), "tweet:update")
    run(args=(batch,), took=12.5)

    [row] = NotedTask.objects.all()
    assert (row.queue, row.keys, row.failed, row.reason) == ("tweet:update", 3, False, "")
    assert timedelta(seconds=12) < row.took < timedelta(seconds=100)


def test_a_failed_task_is_recorded_with_the_last_line_of_its_error():
    run(success=False, result="boom : Traceback (most recent call last):\n  x\nValueError: boom\n")

    [row] = NotedTask.objects.all()
    assert (row.name, row.failed, row.reason) == (
        "trackers.tasks.vacuum_queues", True, "ValueError: boom",
    )  # fmt: skip


def test_a_handled_failure_is_recorded_with_its_first_reason():
    run(because="X answered 503")
    noted.on_task_begin()
    run()

    [row] = NotedTask.objects.all()
    assert (row.failed, row.reason) == (True, "X answered 503")


def test_only_the_newest_thousand_failures_are_kept():
    NotedTask.objects.bulk_create(
        NotedTask(name=str(n), took=A_MINUTE, failed=True, host="h", pid=1)
        for n in range(MAX_NOTED_TASKS + 20)
    )

    assert noted.prune_noted_tasks() == 20
    assert noted.prune_noted_tasks() == 0
    assert NotedTask.objects.last().name == "20"


# The database.


def test_the_health_of_the_database_is_read():
    SAMPLES.make_ahead(now=now())

    state = database.health()

    assert state.size > 1_000_000
    assert 0 < state.connections <= state.connections_most
    by_name = {one.name: one for one in state.tables}
    assert by_name["trackers_sample"].parts > 4
    parts = {one.table: one for one in state.partitions}
    assert parts["trackers_sample"].parts == by_name["trackers_sample"].parts - 1
    assert parts["trackers_sample"].stray is None


def test_rows_in_a_default_partition_are_reported_and_an_empty_one_is_not():
    SAMPLES.make_ahead(now=now())
    with connection.cursor() as db:
        db.execute(
            "INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements) "
            "SELECT 1, at, at, 1 FROM (SELECT now() + interval '1 year' AS at) AS far"
        )
        assert "trackers_sample_default" in [one.stray for one in database.health().partitions]
        db.execute("DELETE FROM trackers_sample")

    assert [one.stray for one in database.health().partitions if one.stray] == []


def test_wal_is_measured_by_minute_and_never_negative_after_a_restart():
    minute = this_minute()
    given = {"size": 1, "connections": 1}
    for back, wal in ((5, 1000), (4, 1500), (2, 1600), (1, 10)):
        DatabaseMinute.objects.create(minute=minute - back * A_MINUTE, wal=wal, **given)

    found = dict(database.wal_by_minute(over=AN_HOUR))

    assert found == {minute - 4 * A_MINUTE: 500, minute - A_MINUTE: None}


def test_daily_growth_of_the_database_is_known_after_an_hour():
    assert database.health().grows_a_day is None
    for hours, size in ((0, 1000), (2, 800)):
        DatabaseMinute.objects.create(
            minute=now() - hours * AN_HOUR, wal=1, size=size, connections=1
        )
    assert database.health().grows_a_day == pytest.approx(2400, rel=0.01)
