"""Far more to pack than a task has time for: every periodic task is done all the same.

A real cluster with a short TASK_TIMEOUT, killed in the middle. django-q2's scheduler looks every
half minute; here one that ticks faster stands beside it, as further clusters would.
"""

import os
import signal
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.flows.conftest import wait_until
from trackers.tweets.pack import SAMPLES

pytestmark = pytest.mark.django_db

# A piece of packing takes a tenth of a second, and on a busy machine was seen to take over two.
TASK_TIMEOUT = 6
# Rows that are there to pack until the other tasks are done: more than a run packs, and no more,
# since all of them are to be packed in the end.
BACKLOG, EACH = 360_000, 40
A_MOMENT = 0.3

# Of two days that are over, also in the half hour after midnight, in which yesterday is not yet.
MORE = """
    INSERT INTO trackers_sample (tweet_id, taken_at, measured_until, measurements, likes)
    SELECT tweet, at, at, 1, n
    FROM generate_series(%s::int, %s::int) tweet, generate_series(1, %s::int) n,
         LATERAL (SELECT date_trunc('day', now()) - interval '3 days' + n * interval '1 hour') t(at)
"""
IN_ROWS = "SELECT count(*) FROM trackers_sample"
IN_ARRAYS = "SELECT coalesce(sum(cardinality(taken_at)), 0) FROM trackers_packedsamples"
# Whatever a piece of packing was killed in, nothing is in both and nothing in neither.
IN_EITHER = f"SELECT ({IN_ROWS}) + ({IN_ARRAYS})"
OLD = """
    INSERT INTO django_q_task (id, name, func, started, stopped, success, attempt_count)
    SELECT n, 'old', 'old', now() - interval '20 days', now() - interval '20 days', false, 1
    FROM generate_series(1, 10) n;
    INSERT INTO trackers_queuecounters (queue, minute, host, pid, batches, asked, measured, changed,
                                missing, failed, late)
    VALUES ('tweet:update', now() - interval '3 days', 'old', 1, 1, 1, 1, 1, 0, 0, '[]');
    INSERT INTO trackers_worker (cluster, host, pid, kind, started_at, seen_at, doing)
    VALUES (gen_random_uuid(), 'old', 1, 'main', now(), now() - interval '2 hours', '')
"""
OLD_LEFT = """
    SELECT (SELECT count(*) FROM django_q_task WHERE name = 'old')
         + (SELECT count(*) FROM trackers_queuecounters WHERE host = 'old')
         + (SELECT count(*) FROM trackers_worker WHERE host = 'old')
"""
PACK_NOW = (
    "UPDATE django_q_schedule SET next_run = now() WHERE func = 'trackers.tasks.pack_samples'"
)
FAILED = "SELECT func, result FROM django_q_task WHERE NOT success AND name <> 'old'"


def make_partitions(product):
    now = datetime.now(UTC)
    with product.inside():
        for hours in range(0, 96, 6):
            SAMPLES.make(SAMPLES.covering(now - timedelta(hours=hours)))
        SAMPLES.make_ahead(now=now)


class Backlog:
    """Samples to pack, of which there are always enough, however fast the machine is."""

    def __init__(self, product):
        self.product, self.tweets, self.looked_at = product, 0, 0.0
        self.fill()

    @property
    def rows(self):
        """All that there ever were."""
        return self.tweets * EACH

    def fill(self):
        first, self.tweets = self.tweets + 1, self.tweets + BACKLOG // EACH
        self.product.sql(MORE, first, self.tweets, EACH)

    def lasts(self):
        """Packing is not over, and will not be in a moment."""
        if time.monotonic() < self.looked_at + A_MOMENT:
            return True
        left = self.product.value(IN_ROWS)
        if left < BACKLOG:
            self.fill()
        self.looked_at = time.monotonic()
        return left > 0


@pytest.mark.timeout(500)
def test_a_backlog_of_packing_is_done_in_several_runs_without_delaying_other_periodic_tasks(
    product, scheduling
):
    product.environment |= {"TASK_TIMEOUT": str(TASK_TIMEOUT), "REQUEST_TIMEOUT": "1"}
    make_partitions(product)
    backlog = Backlog(product)
    for statement in OLD.split(";"):
        product.sql(statement)

    scheduling()
    cluster = product.start_cluster(workers=1)

    def others_are_done():
        assert backlog.lasts(), "packing was over before the others: it proves nothing"
        return product.value(OLD_LEFT) == 0

    wait_until(others_are_done, within=120, what="all that is old is gone")
    # Since the last look packing may have come to its end.
    backlog.fill()
    product.sql(PACK_NOW)
    everything = backlog.rows
    assert product.value(IN_EITHER) == everything

    # In the middle of packing, after the first piece that this test sees committed.
    before = product.value(IN_ARRAYS)
    wait_until(lambda: product.value(IN_ARRAYS) > before, what="packing continues")
    os.killpg(cluster.pid, signal.SIGKILL)
    cluster.wait(10)
    assert product.value(IN_EITHER) == everything

    # What it had in hand is handed out again after a while, which has passed.
    product.sql("UPDATE django_q_ormq SET lock = now()")
    product.start_cluster(workers=1)
    wait_until(lambda: product.value(IN_ROWS) == 0, within=300, what="all is packed")
    assert product.value(IN_ARRAYS) == everything
    assert product.sql(FAILED) == []
