"""A cluster takes the figures of the queues, whoever else does so too."""

import os
import signal

import psycopg
import pytest
from psycopg import sql

from tests.databases import url_of
from tests.jobs.cluster.running import poll
from trackers.jobs.models import job_classes

pytestmark = pytest.mark.django_db

TAKEN = """
    SELECT (SELECT count(*) FROM trackers_queuestatistics WHERE taken_at > %(since)s),
           (SELECT count(*) FROM trackers_tweetcensus WHERE taken_at > %(since)s)
"""


def now(url):
    with psycopg.connect(url) as db:
        return db.execute("SELECT now()").fetchone()[0]


def taken_since(url, at):
    """How many rows of figures, and of the census, were written since then."""
    with psycopg.connect(url) as db:
        return db.execute(TAKEN, {"since": at}).fetchone()


def all_of_them():
    return len(job_classes()), 1


def test_a_cluster_keeps_recording_statistics_of_every_queue(cluster):
    for _ in range(2):
        at = now(cluster.url)
        assert poll(lambda at=at: taken_since(cluster.url, at) == all_of_them()), cluster.log_text()


def test_another_cluster_records_statistics_after_a_kill(run):
    one, two = run().wait_until_up(), run().wait_until_up()
    assert poll(lambda: taken_since(one.url, "-infinity") == all_of_them())

    os.kill(one.pid, signal.SIGKILL)

    at = now(two.url)
    assert poll(lambda: taken_since(two.url, at) == all_of_them()), two.log_text()


@pytest.mark.more
def test_a_temporarily_missing_table_does_not_end_the_recorder(run):
    cluster = run().wait_until_up()
    with psycopg.connect(cluster.url) as db:
        db.execute("ALTER TABLE trackers_tweetcensus RENAME TO away")
    assert poll(lambda: "The figures for the pages cannot be written" in cluster.log_text())
    with psycopg.connect(cluster.url) as db:
        db.execute("ALTER TABLE away RENAME TO trackers_tweetcensus")

    at = now(cluster.url)
    assert poll(lambda: taken_since(cluster.url, at) == all_of_them()), cluster.log_text()
    assert cluster.does()


WITHOUT_CONNECTION = (
    "The figures for the pages cannot be written: ",
    "The cluster could not write its heartbeat: ",
    "Could not create task from schedule: ",
)
END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


@pytest.mark.more
def test_while_no_connection_is_free_each_part_says_so_in_a_sentence(run):
    # The scheduler looks every half minute.
    cluster = run(scheduler=True).wait_until_up()
    with psycopg.connect(cluster.url) as db:
        name = db.info.dbname
        if db.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()[0]:
            pytest.skip("PostgreSQL lets a superuser connect beyond the limit")
    limit = sql.SQL("ALTER DATABASE {} CONNECTION LIMIT {}")
    with psycopg.connect(url_of("postgres"), autocommit=True) as admin:
        admin.execute(limit.format(sql.Identifier(name), 0))
        admin.execute(END_SESSIONS, [name])

        assert poll(lambda: all(said in cluster.log_text() for said in WITHOUT_CONNECTION)), (
            cluster.log_text()
        )

        admin.execute(limit.format(sql.Identifier(name), -1))
    assert cluster.does(), cluster.log_text()
    text = cluster.log_text()
    assert "too many connections" in text
    assert "Traceback" not in text, text
