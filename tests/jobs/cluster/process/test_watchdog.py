import os
import signal
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from tests.jobs.cluster.running import poll
from tests.queues import fill_buckets, put
from trackers.jobs import queue
from trackers.jobs.processes.watchdog import (
    ClusterState,
    DueQueue,
    DueReading,
    OverdueQueue,
    Watchdog,
    barks,
    read_due_queues,
)
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LEASE = timedelta(seconds=60)


def ago(seconds):
    return NOW - timedelta(seconds=seconds)


def overdue(*, due=1000, since=1000, lease=LEASE):
    return OverdueQueue("tweet:update", lease, ago(due), ago(since))


@pytest.mark.parametrize(
    ("started", "done", "overdue", "bark"),
    [
        pytest.param(1000, 1000, [overdue()], True, id="overdue and did nothing"),
        pytest.param(1000, None, [overdue()], True, id="never did anything"),
        pytest.param(120, 120, [overdue(due=120, since=120)], True, id="exactly two leases"),
        pytest.param(1000, 1000, [], False, id="nothing overdue"),
        pytest.param(1000, 119, [overdue()], False, id="did something"),
        pytest.param(119, None, [overdue()], False, id="has just started"),
        pytest.param(1000, 1000, [overdue(due=119)], False, id="not late enough"),
        pytest.param(1000, 1000, [overdue(since=119)], False, id="was paused until just now"),
        pytest.param(
            1000, 1000, [overdue(lease=timedelta(hours=1))], False, id="the lease is that long"
        ),
        pytest.param(1000, 1000, [overdue(due=1), overdue()], True, id="one of two"),
    ],
)
def test_the_watchdog_barks_at_overdue_undone_work(started, done, overdue, bark):
    state = ClusterState(NOW, ago(started), done and ago(done), tuple(overdue))

    assert bool(barks(state)) is bark


def test_the_bark_names_the_work_and_since_when():
    assert barks(ClusterState(NOW, ago(1000), ago(500), (overdue(due=300),))) == (
        "tweet:update has had work due since 2026-11-21 11:55:00, "
        "and this cluster has finished nothing since 2026-11-21 11:51:40. It stops."
    )


def reading(seconds, *, due=True):
    found = (DueQueue("tweet:update", LEASE, ago(5000)),) if due else ()
    return DueReading(ago(-seconds), None, found)


def since(readings):
    watchdog = Watchdog(None)
    for each in readings:
        state = watchdog.remember(each)
    return [(NOW - overdue.overdue_since).total_seconds() * -1 for overdue in state.overdue]


@pytest.mark.parametrize(
    ("readings", "overdue_since"),
    [
        pytest.param([reading(0), reading(5), reading(10)], [0], id="from the first on"),
        pytest.param(
            [reading(0), reading(5, due=False), reading(10)], [10], id="anew after a pause"
        ),
        pytest.param([reading(0), reading(5), reading(600)], [600], id="anew after a long silence"),
        pytest.param([reading(0), reading(-5)], [-5], id="anew when the clock was put back"),
        pytest.param([reading(0), reading(5, due=False)], [], id="overdue no more"),
    ],
)
def test_the_watchdog_remembers_since_when_work_is_overdue(readings, overdue_since):
    assert since(readings) == overdue_since


def test_claimed_work_is_not_overdue():
    now = timezone.now()
    put(TweetUpdate, 1, now - timedelta(hours=1))
    assert [due.name for due in read_due_queues(connection, uuid4()).due] == ["tweet:update"]

    assert queue.claim_batch("tweet:update").keys == (1,)

    assert read_due_queues(connection, uuid4()).due == ()


def stick(cluster):
    """No process dies, nobody works."""
    for pid in [*cluster.workers(), *cluster.find("pusher")]:
        os.kill(pid, signal.SIGSTOP)


def put_overdue(url, *, change="", lease="1 second"):
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE trackers_queue SET lease = %s, buffer_ttl = '0.1 seconds'", [lease]
        )
        connection.execute(
            "INSERT INTO trackers_tweetupdate (key, due_at, strikes)"
            " SELECT key, now() - interval '1 hour', 0 FROM generate_series(1, 5) key"
        )
        fill_buckets(connection)
        if change:
            connection.execute(f"UPDATE trackers_queue SET {change}")


def seen_at(cluster):
    return cluster.rows("max(seen_at)")[0][0]


def test_a_stuck_cluster_exits_with_1_and_leaves_no_process(run, fresh_database):
    cluster = run().wait_until_up()
    stick(cluster)

    put_overdue(fresh_database)

    assert cluster.ends(within=30) == 1, cluster.log_text()
    assert cluster.is_gone()
    assert "tweet:update has had work due" in cluster.log_text()


@pytest.mark.more
def test_a_cluster_without_progress_stays_while_all_is_paused_or_held(run, fresh_database):
    cluster = run().wait_until_up()
    stick(cluster)
    put_overdue(fresh_database, change="paused = true")
    assert poll(lambda: cluster.rows())

    # Longer than two leases of one second.
    for held in ["paused = true", "paused = false, held_until = now() + interval '1 hour'"]:
        with psycopg.connect(fresh_database) as connection:
            connection.execute(f"UPDATE trackers_queue SET {held}")
        before = seen_at(cluster)
        assert poll(lambda before=before: (seen_at(cluster) - before).seconds >= 3, seconds=90)

    assert cluster.process.poll() is None, cluster.log_text()
