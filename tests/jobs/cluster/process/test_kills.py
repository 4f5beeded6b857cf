"""kill -9 of each process of a cluster that works on the product's own broker."""

import os
import signal

import pytest

from tests.jobs.cluster.running import is_alive, poll

pytestmark = pytest.mark.django_db


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def test_twelve_idle_workers_killed_in_a_row_leave_the_cluster_at_work(cluster):
    for _ in range(12):
        victim = poll(lambda: cluster.find("idle"))[0]
        kill(victim)
        assert poll(lambda victim=victim: not is_alive(victim))
        assert cluster.does(), cluster.log_text()

    assert poll(lambda: len(cluster.workers()) == 2)


def test_all_idle_workers_killed_at_once_leave_the_cluster_at_work(cluster):
    for pid in cluster.find("idle"):
        kill(pid)

    assert cluster.does(), cluster.log_text()
    assert poll(lambda: len(cluster.workers()) == 2)


@pytest.mark.parametrize("role", ["pusher", "monitor"])
def test_a_killed_helper_is_replaced_and_work_goes_on(cluster, role):
    for _ in range(3):
        [victim] = poll(lambda: cluster.find(role))
        kill(victim)
        assert poll(lambda victim=victim: cluster.find(role) not in ([], [victim]))
        assert cluster.does(), cluster.log_text()


def test_a_busy_worker_that_is_killed_is_replaced(cluster):
    word = cluster.enqueue("hang")
    assert poll(lambda: f"{word} begins" in cluster.noted())

    kill(cluster.find("processing")[0])

    assert cluster.does(), cluster.log_text()


@pytest.mark.more
def test_a_worker_deaf_to_its_time_out_is_killed_and_replaced(run):
    cluster = run(workers=1, timeout=1).wait_until_up(workers=1)
    word = cluster.enqueue("hang")
    assert poll(lambda: f"{word} begins" in cluster.noted())
    [victim] = cluster.find("processing")

    assert poll(lambda: not is_alive(victim), seconds=90)
    assert cluster.does(), cluster.log_text()


def test_a_worker_over_its_time_is_replaced(run):
    cluster = run(workers=1, timeout=1).wait_until_up(workers=1)
    word = cluster.enqueue("linger", 30)
    assert poll(lambda: f"{word} begins" in cluster.noted())

    assert cluster.does(), cluster.log_text()
    assert word not in cluster.noted()


def test_no_process_outlives_the_main_process(run):
    cluster = run().wait_until_up()
    # One worker is busy, deaf to all but SIGKILL, and the other idle.
    word = cluster.enqueue("hang")
    assert poll(lambda: f"{word} begins" in cluster.noted())
    assert len(cluster.pids()) == 6

    kill(cluster.pid)

    assert poll(cluster.is_gone, seconds=90), cluster.log_text()


def test_no_process_outlives_the_sentinel_and_the_cluster_exits_with_1(run):
    cluster = run().wait_until_up()
    # One worker is busy, deaf to all but SIGKILL, and the other idle.
    word = cluster.enqueue("hang")
    assert poll(lambda: f"{word} begins" in cluster.noted())
    cluster.pids()

    kill(cluster.find("sentinel")[0])

    assert cluster.ends(within=5) == 1
    assert cluster.is_gone()
    assert "The sentinel died" in cluster.log_text()
    assert cluster.rows() == []


def test_an_unsendable_result_ends_no_worker(cluster):
    assert poll(lambda: len(cluster.find("idle")) == 2)
    workers = cluster.workers()

    assert cluster.does("answer", size=5_000_000)
    assert cluster.does("open_lock")

    assert cluster.does(), cluster.log_text()
    assert cluster.workers() == workers


def test_an_undeliverable_task_is_given_up_and_ends_no_pusher(cluster):
    [pusher] = cluster.find("pusher")
    cluster.enqueue("note", "x" * 5_000_000)
    assert poll(lambda: "Gave up task" in cluster.log_text())

    assert cluster.does(), cluster.log_text()
    assert cluster.find("pusher") == [pusher]
