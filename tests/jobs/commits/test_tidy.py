"""The queue is kept tidy, and who keeps it from being tidied up is told."""

import os
import time

import psycopg
import pytest

from tests.databases import url_of
from tests.factories import TweetUpdateFactory
from trackers.jobs.observed.database import horizon
from trackers.jobs.upkeep import vacuum
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = "SELECT pg_relation_size('trackers_tweetbucket')"
DEAD = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'trackers_tweetbucket'"


def value(query):
    with cursor() as db:
        return db.execute(query).fetchone()[0]


def churn(times):
    for _ in range(times):
        with cursor() as db:
            db.execute("UPDATE trackers_tweetbucket SET due_at = due_at + interval '1 second'")
    with cursor() as db:
        db.execute("SELECT pg_stat_force_next_flush()")


def quiet():
    """No autovacuum in between: the test is of ours."""
    with cursor() as db:
        db.execute("ALTER TABLE trackers_tweetbucket SET (autovacuum_enabled = off)")


def test_a_queue_with_many_dead_rows_is_vacuumed():
    quiet()
    TweetUpdateFactory.create_batch(400)
    churn(5)
    assert value(DEAD) >= 1000

    assert "tweet:update" in vacuum()

    size = value(PAGES)
    churn(3)
    assert value(PAGES) == size, "the room of the dead is used again"
    assert value(DEAD) < 2000


def test_a_queue_with_few_dead_rows_is_left_alone():
    quiet()
    TweetUpdateFactory.create_batch(10)
    churn(2)

    assert vacuum() == []


def test_the_oldest_snapshot_is_reported_with_its_owner():
    database = value("SELECT current_database()")
    with psycopg.connect(url_of(database), application_name="a report") as report:
        report.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        report.execute("SELECT count(*) FROM trackers_tweet")
        time.sleep(0.3)

        oldest = horizon()

        assert oldest.seconds >= 0.3
        assert oldest.who == "a report"
        assert oldest.pid not in (None, os.getpid())
    assert horizon().who != "a report"


def test_a_snapshot_of_another_database_is_ignored():
    with psycopg.connect(url_of("postgres"), application_name="elsewhere") as other:
        other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        other.execute("SELECT count(*) FROM pg_class")

        assert horizon().who != "elsewhere"
