"""Failures that django-q2 wrote down are forgotten after two weeks, by an index."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from django_q.models import Task

from tests.jobs.plans import explain, scans
from trackers.jobs.upkeep import PRUNE_FAILURES, prune_failures
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)
LATER, OVER = Deadline.after(3600), Deadline.after(0)


def task(*, age, success=False):
    at = timezone.now() - age
    return Task.objects.create(
        id=uuid4().hex, name="a test", func="a.test", started=at, stopped=at, success=success
    ).pk


# So many, as they might have piled up in two years.
MANY = """
    INSERT INTO django_q_task (id, name, func, started, stopped, success, attempt_count)
    SELECT md5(n::text), 'a test', 'a.test', at, at, false, 1
    FROM generate_series(1, %(count)s) n,
         LATERAL (SELECT now() - (7 + n % 600) * interval '1 day' AS at) times
"""


def fill(count):
    with cursor() as db:
        db.execute(MANY.replace("% 600", "%% 600"), {"count": count})
        db.execute("ANALYZE django_q_task")


def test_only_old_failures_are_pruned():
    young, fine = task(age=13 * DAY), task(age=99 * DAY, success=True)
    task(age=15 * DAY)
    task(age=99 * DAY)

    assert prune_failures(now=timezone.now(), deadline=LATER).rows == 2
    assert set(Task.objects.values_list("pk", flat=True)) == {young, fine}


def test_without_time_the_rest_is_counted_and_left_for_the_next_run():
    fill(12_000)
    old = Task.objects.filter(stopped__lt=timezone.now() - 14 * DAY).count()

    first = prune_failures(now=timezone.now(), deadline=OVER)

    assert (first.rows, first.left) == (5000, old - 5000)
    assert prune_failures(now=timezone.now(), deadline=LATER).rows == old - 5000


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan"])
def test_old_failures_are_found_by_their_index(mode):
    fill(100_000)
    params = {"before": timezone.now() - 14 * DAY}
    with cursor() as db:
        db.execute(f"SET plan_cache_mode = {mode}")
        for _ in range(7):
            db.execute(PRUNE_FAILURES, params)

    scanned = scans(explain(PRUNE_FAILURES, params), "django_q_task")

    assert ("Index Scan", "tweetwatch_failed_tasks") in scanned
    assert ("Tid Scan", "") in scanned
    assert not {"Seq Scan", "Bitmap Heap Scan"} & {kind for kind, _ in scanned}
