"""Rows of Worker, written by the cluster's processes."""

import os
import signal
from uuid import uuid4

import psycopg
import pytest

from tests.jobs.cluster.running import poll
from trackers.jobs.observed.models import Worker
from trackers.jobs.processes.heartbeats import prune_silent_clusters

pytestmark = pytest.mark.django_db


def test_every_process_renews_its_row(cluster):
    assert poll(lambda: len(cluster.find("idle")) == 2)
    everybody = sorted(
        [("main", cluster.pid), ("sentinel", *cluster.find("sentinel"))]
        + [("worker", pid) for pid in cluster.workers()]
        + [("monitor", *cluster.find("monitor")), ("pusher", *cluster.find("pusher"))]
    )

    assert poll(lambda: sorted(cluster.rows()) == everybody), cluster.rows()
    [first] = set(cluster.rows("min(seen_at)"))
    assert poll(lambda: cluster.rows("min(seen_at)")[0] > first)
    [(alike,)] = cluster.rows("bool_and(started_at < seen_at AND doing = '')")
    assert alike


def test_a_worker_reports_its_task_and_its_last_end(cluster):
    word = cluster.enqueue("linger", 1)

    doing = f"linger {word}"
    assert poll(lambda: (doing, True) in cluster.rows("doing, doing_since <= seen_at"))
    assert poll(lambda: word in cluster.noted())
    idle = ("", None, True)
    assert poll(lambda: idle in cluster.rows("doing, doing_since, done_at IS NOT NULL"))


def test_a_task_that_failed_is_not_counted_as_done(run):
    # A cluster that has done nothing, so that no worker has something left to tell.
    cluster = run().wait_until_up()

    word = cluster.enqueue("fail")

    assert poll(lambda: word in cluster.noted())
    assert poll(lambda: cluster.rows("bool_and(doing = '')") == [(True,)])
    assert cluster.rows("max(done_at)") == [(None,)]


def test_the_last_task_of_a_killed_worker_is_kept_by_the_main_process(run):
    # One worker in a cluster that has done nothing: nobody else tells of something done meanwhile.
    cluster = run(workers=1).wait_until_up(workers=1)
    assert cluster.does()
    done_at = poll(lambda: cluster.rows("max(done_at)")[0][0])
    [victim] = cluster.workers()

    os.kill(victim, signal.SIGKILL)

    assert poll(lambda: ("worker", victim) not in cluster.rows(), seconds=90)
    assert ("main", done_at) in cluster.rows("kind, done_at")


def test_work_goes_on_while_the_rows_cannot_be_written(cluster):
    with psycopg.connect(cluster.url, autocommit=True) as admin:
        admin.execute("ALTER TABLE trackers_worker RENAME TO elsewhere")
        try:
            for _ in range(3):
                assert cluster.does(), cluster.log_text()
            assert poll(lambda: "could not write its heartbeat" in cluster.log_text())
        finally:
            admin.execute("ALTER TABLE elsewhere RENAME TO trackers_worker")

    assert cluster.process.poll() is None
    assert poll(lambda: len(cluster.rows()) == 6), cluster.rows()


def test_clusters_silent_for_an_hour_are_pruned(django_db_blocker):
    from datetime import timedelta

    from django.utils import timezone

    now = timezone.now()
    ages = {"silent": timedelta(hours=2), "heard": timedelta(minutes=50)}
    for host, age in ages.items():
        cluster = uuid4()
        for pid in (1, 2):
            Worker.objects.create(
                cluster=cluster,
                host=host,
                pid=pid,
                kind="worker",
                started_at=now - timedelta(hours=3),
                seen_at=now - age * pid / 2,
            )

    assert prune_silent_clusters() == 2

    assert set(Worker.objects.values_list("host", flat=True)) == {"heard"}
