"""kill -9 in the midst of re-planning: another worker goes on from where it stood."""

import os
import signal

import pytest

from tests.flows.conftest import wait_until
from tests.large_tables import fill_by

pytestmark = pytest.mark.django_db

COUNT = 60_000
ROW = "SELECT {} FROM trackers_replanning"


def test_a_killed_worker_costs_one_piece_and_nothing_is_planned_twice(product, scheduling):
    fill_by(product.database, COUNT)
    # No look-ups meanwhile: what moves is moved by the re-planning.
    product.sql("UPDATE trackers_queue SET paused = true")
    product.call("interval", "set", "1h=10m", "30d=10h", "--replan", "--yes")
    product.start_cluster(workers=1)
    wait_until(lambda: product.value(ROW.format("seen")), what="a piece was planned")

    [worker] = product.wait_for("worker")
    os.kill(worker, signal.SIGKILL)

    stood = product.value(ROW.format("seen"))
    assert 0 < stood < COUNT
    assert product.value(ROW.format("finished_at")) is None
    # The watch comes every minute, for what was silent for half of one: both have passed.
    product.sql("UPDATE trackers_replanning SET touched_at = now() - interval '1 minute'")
    product.sql("UPDATE django_q_schedule SET next_run = now() WHERE name = 'replanning'")
    scheduling()
    wait_until(lambda: product.value(ROW.format("finished_at")), within=120, what="it was finished")
    assert product.sql(ROW.format("seen, moved, woken")) == [(COUNT, COUNT, 0)]
    left = "due_at < measured_until + interval '8 hours'"
    old = "created_at < now() - interval '2 hours'"
    assert not product.value(
        "SELECT count(*) FROM trackers_tweetupdate JOIN trackers_tweet ON id = key"
        f" WHERE {left} AND {old}"
    )
