"""Who takes the figures, and what it may cost: nothing grows with the number of keys that wait."""

from datetime import timedelta

import psycopg
import pytest
from django.db import connection

from tests.databases import url_of
from tests.jobs.plans import nodes
from tests.queues import fill_buckets
from trackers.jobs.observed.models import QueueStatistics
from trackers.jobs.queue import on
from trackers.jobs.statistics import (
    COUNT_BOUNDED,
    FRESH_FOR,
    MAX_COUNTED_KEYS,
    PAUSE_FACTOR,
    count_bounded,
    queue_summary,
    record_summary,
)
from tweetwatch.database import cursor

NAME = "tweet:update"
TABLE, BUCKETS = "trackers_tweetupdate", "trackers_tweetbucket"
MANY = MAX_COUNTED_KEYS + 2000
LONG = timedelta(hours=1)
HOUR_AHEAD, MINUTE_AGO = "now() + interval '1 hour'", "now() - interval '1 minute'"


def fill(first, last, due_at):
    with cursor() as db:
        db.execute(
            f"INSERT INTO {TABLE} (key, due_at, stamp) SELECT n, {due_at}, n / 100"
            f" FROM generate_series({first}, {last}) n"
        )
        fill_buckets(db)


def make_older(by):
    """As if the row had been written so much earlier."""
    row = QueueStatistics.objects.get()
    row.taken_at -= by
    row.whole_at = row.whole_at and row.whole_at - by
    row.counted_at = row.counted_at and row.counted_at - by
    row.save()


@pytest.mark.django_db
def test_statistics_of_a_cluster_are_read_until_they_are_old():
    fill(1, 5, MINUTE_AGO)
    record_summary(NAME)
    fill(6, 7, MINUTE_AGO)

    assert (queue_summary(NAME).due, queue_summary(NAME).scheduled) == (5, 5)
    make_older(FRESH_FOR + timedelta(seconds=1))
    assert (queue_summary(NAME).due, queue_summary(NAME).scheduled) == (7, 7)


@pytest.mark.django_db
def test_statistics_are_recorded_every_two_seconds_by_any_number_of_clusters():
    assert record_summary(NAME)
    assert not record_summary(NAME)
    make_older(timedelta(seconds=2))
    assert record_summary(NAME)


@pytest.mark.django_db(transaction=True)
def test_readers_do_not_wait_for_a_counting_cluster():
    record_summary(NAME)
    make_older(LONG)

    with psycopg.connect(url_of(connection.settings_dict["NAME"])) as rival:
        rival.execute("SELECT FROM trackers_queuestatistics FOR UPDATE")
        with cursor() as db:
            db.execute("SET lock_timeout = '5s'")
        assert not record_summary(NAME)
        rival.rollback()
        assert record_summary(NAME)


@pytest.mark.django_db
def test_a_long_queue_is_counted_whole_with_the_time_of_the_count():
    fill(1, MANY, MINUTE_AGO)
    fill(MANY + 1, MANY + 10, HOUR_AHEAD)

    before = queue_summary(NAME)
    record_summary(NAME)
    after = queue_summary(NAME)

    assert before.is_cut_off
    assert (before.due, before.counted_at) == (MAX_COUNTED_KEYS, None)
    assert (after.due, after.scheduled) == (MANY, MANY + 10)
    assert after.counted_at is not None


@pytest.mark.django_db
def test_without_a_cluster_the_count_is_old_and_the_oldest_key_is_current():
    fill(1, MANY, HOUR_AHEAD)
    record_summary(NAME)
    make_older(LONG)
    fill(MANY + 1, MANY + 3, MINUTE_AGO)

    summary = queue_summary(NAME)

    assert summary.taken_at - summary.counted_at >= LONG
    assert (summary.due, summary.scheduled) == (3, MANY)
    assert summary.oldest_due_seconds == pytest.approx(60, abs=1)


@pytest.mark.django_db
def test_a_whole_count_pauses_fifty_times_its_duration():
    fill(1, MANY, HOUR_AHEAD)
    record_summary(NAME)
    took = timedelta(minutes=1)
    QueueStatistics.objects.update(whole_took=took)
    fill(MANY + 1, MANY + 1, HOUR_AHEAD)

    make_older(PAUSE_FACTOR * took - timedelta(seconds=10))
    record_summary(NAME)
    early = queue_summary(NAME).scheduled
    make_older(timedelta(seconds=20))
    record_summary(NAME)

    assert (early, queue_summary(NAME).scheduled) == (MANY, MANY + 1)


@pytest.mark.django_db
def test_claimed_keys_behind_many_due_ones_are_counted():
    fill(1, MANY, "now() + interval '1 second'")
    with cursor() as db:
        db.execute(
            f"UPDATE {BUCKETS} SET lease = 7, due_at = now() + interval '50 s' WHERE stamp < 1"
        )

    record_summary(NAME)

    assert queue_summary(NAME).in_flight == 99


def fresh_statistics(db):
    db.execute(f"ANALYZE {TABLE}, {BUCKETS}")


def no_statistics(db):
    """As after a restore, or a first burst."""


def statistics_of_an_empty_table(db):
    for table in (TABLE, BUCKETS):
        db.execute(f"DELETE FROM {table}")
        db.execute(f"ANALYZE {table}")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statistics", [fresh_statistics, no_statistics, statistics_of_an_empty_table]
)
@pytest.mark.parametrize("due", [0, 100_000, 200_000])
def test_a_reading_covers_a_bounded_part_of_the_queue(statistics, due):
    with cursor() as db:
        fill(1, 200_000, HOUR_AHEAD)
        statistics(db)
        if statistics is statistics_of_an_empty_table:
            fill(1, 200_000, HOUR_AHEAD)
        db.execute(f"UPDATE {BUCKETS} SET due_at = {MINUTE_AGO} WHERE stamp < {due} / 100")
        params = {"queue": NAME, "table": TABLE, "most": MAX_COUNTED_KEYS}
        # As it is prepared: a plan for these parameters, and one for any.
        for mode in ("force_custom_plan", "force_generic_plan"):
            db.execute(f"SET LOCAL plan_cache_mode = {mode}")
            explained = on(NAME, f"EXPLAIN (ANALYZE, FORMAT JSON) {COUNT_BOUNDED}")
            [rows] = db.execute(explained, params, prepare=True).fetchone()
            walked = [
                (
                    node["Node Type"],
                    (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
                    * node["Actual Loops"],
                )
                for node in nodes(rows[0]["Plan"])
                if node.get("Relation Name") in (TABLE, BUCKETS)
            ]
            assert max(round(number) for _, number in walked) <= MAX_COUNTED_KEYS, walked

    assert count_bounded(NAME).due == min(due, MAX_COUNTED_KEYS)
