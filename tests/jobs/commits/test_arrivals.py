"""What arrives in bulk is spread by the queue's rate."""

import resource
from datetime import timedelta

import pytest
from django.db import transaction

from tests.jobs.conftest import NAME
from trackers.jobs import queue
from trackers.updater.models import TweetUpdate

NOW = timedelta(0)


def test_schedule_many_returns_the_number_of_jobs(jobs):
    assert queue.schedule_many(NAME, []) == 0
    assert queue.schedule_many(NAME, ((key, NOW) for key in range(1, 11))) == 10
    assert jobs.keys() == set(range(1, 11))


def test_a_burst_is_spread_by_the_rate_in_the_order_given(jobs):
    jobs.knobs(arrivals_per_second=10)

    queue.schedule_many(NAME, [(key, NOW) for key in range(100, 0, -1)])

    assert jobs.due_in(100) == pytest.approx(0)
    assert jobs.due_in(90) == pytest.approx(1)
    assert jobs.due_in(1) == pytest.approx(9.9)


def test_each_delay_counts_besides_the_spread(jobs):
    jobs.knobs(arrivals_per_second=10)

    queue.schedule_many(NAME, [(1, NOW), (2, timedelta(minutes=1)), (3, NOW)])

    assert [jobs.due_in(key) for key in (1, 2, 3)] == pytest.approx([0, 60.1, 0.2])


def test_a_burst_begins_where_the_last_one_ends(jobs):
    jobs.knobs(arrivals_per_second=10)

    queue.schedule_many(NAME, [(key, NOW) for key in range(100)])
    queue.schedule_many(NAME, [(key, NOW) for key in range(100, 200)])

    assert jobs.due_in(100) == pytest.approx(10)
    assert jobs.due_in(199) == pytest.approx(19.9)


def test_a_small_call_does_not_wait_behind_a_burst(jobs):
    jobs.knobs(arrivals_per_second=10)
    queue.schedule_many(NAME, [(key, NOW) for key in range(100)])

    queue.schedule_many(NAME, [(1000, NOW), (1001, NOW)])

    assert jobs.due_in(1000) == pytest.approx(0)
    assert jobs.due_in(1001) == pytest.approx(0.1)


def test_the_last_of_duplicates_in_one_call_wins(jobs):
    given = [(1, NOW), (2, NOW), (1, timedelta(hours=1))]

    assert queue.schedule_many(NAME, given) == 3
    assert jobs.due_in(1) == pytest.approx(3600, abs=1)
    assert jobs.keys() == {1, 2}


def test_two_calls_fit_into_one_transaction(jobs):
    with transaction.atomic():
        queue.schedule_many(NAME, [(1, NOW)])
        queue.schedule_many(NAME, [(2, NOW)])

    assert jobs.keys() == {1, 2}


@pytest.mark.django_db(transaction=True)
def test_a_failing_iterator_leaves_nothing_and_can_be_retried(committed_jobs):
    def breaking():
        yield 1, NOW
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        queue.schedule_many(NAME, breaking())
    assert committed_jobs.keys() == set()

    assert queue.schedule_many(NAME, [(1, NOW)]) == 1


# A list of so many would take 30 MB and more.
MANY = 300_000


@pytest.mark.django_db(transaction=True)
def test_many_keys_are_copied_once_in_bounded_memory(committed_jobs, capsys):
    queue.schedule_many(NAME, [(1, NOW)])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = queue.schedule_many(NAME, ((key, NOW) for key in range(1, MANY + 1)))

    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    with capsys.disabled():
        print(f"\n{MANY:,} keys scheduled, {grown:.0f} MB more memory")
    assert count == MANY
    assert TweetUpdate.objects.count() == MANY
    assert committed_jobs.due_in(MANY) == pytest.approx(MANY / 1000, abs=60)
    assert grown < 30
