"""One tweet, alone in its queue, whose look-ups end with the death of their worker."""

import os
import signal
import time
from contextlib import suppress

import psutil
import pytest

from tests.flows.conftest import wait_until
from trackers.jobs.models import MAX_STRIKES

pytestmark = pytest.mark.django_db

LEASE, TASK, REQUEST = 6.0, 5, 4
STRIKES = """
    SELECT coalesce(max(coalesce(b.strikes, j.strikes)), 0) FROM trackers_tweetupdate j
    LEFT JOIN trackers_tweetbucket b ON b.stamp = j.stamp AND j.key = ANY(b.keys)
"""


def workers_that_look_up(product):
    """The processes whose titles say so."""
    return [
        process
        for process in psutil.Process(product.clusters[0].pid).children(recursive=True)
        if "of tweet:update" in " ".join(process.cmdline())
    ]


def test_it_is_isolated_while_other_workers_do_their_tasks_and_comes_back_by_a_person(product):
    product.environment |= {"REQUEST_TIMEOUT": str(REQUEST), "TASK_TIMEOUT": str(TASK)}
    product.give_credential()
    product.sql(
        "UPDATE trackers_queue SET lease = make_interval(secs => %s), buffer_ttl = '0.2s'", LEASE
    )
    [id] = product.x.ids(1)
    # Longer than it takes to see the worker and kill it.
    product.x.put("latency", {"ms": 3000})
    killed = []

    def is_isolated():
        # Ordinary tasks, of which there are some each minute, show that others could work.
        product.sql("UPDATE django_q_schedule SET next_run = now()")
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            for process in workers_that_look_up(product):
                os.kill(process.pid, signal.SIGKILL)
                killed.append(time.time())
        return product.value(STRIKES) >= MAX_STRIKES

    product.start_cluster(workers=2)
    product.wait_for("worker", 2)
    assert product.manage_json("track", id)["tracked"] == 1
    wait_until(is_isolated, within=40 * LEASE, what="the tweet is isolated")
    assert len(killed) >= MAX_STRIKES
    assert product.status()["isolated"] == 1
    assert product.value("SELECT count(*) FROM trackers_tweet WHERE measurements > 0") == 0

    product.x.put("latency", {"ms": 0})
    assert product.manage("queue", "retry").returncode == 0

    wait_until(
        lambda: product.value("SELECT measurements FROM trackers_tweet WHERE id = %s", id),
        what="it is measured",
    )
    assert product.status()["isolated"] == 0
