"""Each periodic task has a schedule of its own, and one that is behind is run again soon."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from trackers import tasks
from trackers.jobs.ordinary import run_soon

pytestmark = pytest.mark.django_db(transaction=True)

PACKING = "trackers.tasks.pack_samples"


def test_every_periodic_task_is_scheduled():
    for name, func in Schedule.objects.values_list("name", "func"):
        module, _, task = func.rpartition(".")
        assert module == "trackers.tasks", name
        assert callable(getattr(tasks, task)), name


def test_a_missed_periodic_task_runs_once_at_the_next_turn_of_the_scheduler():
    later = timezone.now() + timedelta(minutes=4)
    Schedule.objects.update(next_run=later)
    run_soon(PACKING)
    run_soon(PACKING)

    scheduler()
    scheduler()

    assert [task.func() for task in OrmQ.objects.all()] == [PACKING]
    assert Schedule.objects.get(func=PACKING).next_run > timezone.now()


def test_a_disabled_periodic_task_stays_disabled():
    later = timezone.now() + timedelta(minutes=4)
    Schedule.objects.filter(func=PACKING).update(next_run=later, repeats=0)

    run_soon(PACKING)

    assert Schedule.objects.get(func=PACKING).next_run == later
