"""One tweet, alone in its queue, whose look-ups end with the death of their worker."""

import os
import signal
import time
from contextlib import suppress

import psutil
import pytest

from tests.flows.conftest import wait_until
from trackers.jobs.models import MAX_STRIKES

# It lasts two minutes: only a lease within which an ordinary task was done is a strike.
pytestmark = [pytest.mark.django_db, pytest.mark.more]

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


def test_a_tweet_that_kills_its_workers_is_isolated_alone_in_its_queue_until_a_retry(product):
    product.environment |= {"REQUEST_TIMEOUT": str(REQUEST), "TASK_TIMEOUT": str(TASK)}
    product.give_credential()
    product.sql(
        "UPDATE trackers_queue SET lease = make_interval(secs => %s), buffer_ttl = '0.2s'", LEASE
    )
    id, first = product.x.ids(2)
    product.start_cluster(workers=2)
    # From then on the window is known: before, a request under way keeps all others waiting, and
    # that of a dead worker for a minute and a half.
    product.track([first])
    wait_until(
        lambda: product.value("SELECT count(*) FROM trackers_tweet WHERE measurements > 0"),
        what="another tweet is measured",
    )
    product.call("untrack", first, "--yes")
    # Longer than it takes to see the worker and kill it.
    product.x.put("latency", {"ms": 3000})
    killed = []

    def is_isolated():
        # Ordinary tasks, of which there are some each minute, show that others could work.
        product.sql(
            "UPDATE django_q_schedule SET next_run = now()"
            " WHERE next_run > now() + interval '1 second'"
        )
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            for process in workers_that_look_up(product):
                os.kill(process.pid, signal.SIGKILL)
                killed.append(time.time())
        return product.value(STRIKES) >= MAX_STRIKES

    product.track([id])
    wait_until(is_isolated, within=40 * LEASE, what="the tweet is isolated")
    assert len(killed) >= MAX_STRIKES
    wait_until(lambda: product.status()["isolated"] == 1, what="it is counted as isolated")
    assert product.value("SELECT count(*) FROM trackers_tweet WHERE measurements > 0") == 0

    product.x.put("latency", {"ms": 0})
    product.call("queue", "retry")

    wait_until(
        lambda: product.value("SELECT measurements FROM trackers_tweet WHERE id = %s", id),
        what="it is measured",
    )
    wait_until(lambda: product.status()["isolated"] == 0, what="none is counted as isolated")
