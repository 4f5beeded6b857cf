"""Strikes: only for what a worker had begun, and never for a database that was away."""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError, connection

from tests.databases import url_of
from tests.jobs.conftest import NAME
from trackers.jobs import begun, queue
from trackers.jobs.models import BegunBatch
from tweetwatch.database import cursor


@pytest.fixture
def strikes_after(jobs):
    """How many strikes the key has after that task had its batch, and its lease ran out."""
    jobs.put(1)

    def strikes_after(task):
        batch = queue.get(NAME)
        task(batch)
        jobs.turn_clock(timedelta(seconds=61))
        again = queue.get(NAME)
        queue.release(again)
        return again.strikes

    return strikes_after


@pytest.fixture(autouse=True)
def nothing_is_over():
    yield
    begun.done_leases.clear()


def wait_in_a_cluster_that_is_killed(batch):
    pass


def die(batch):
    assert begun.mark_begun(batch)


@begun.marks_begun
def does_nothing(batch):
    pass


@begun.marks_begun
def breaks(batch):
    raise ValueError("broken by this key")


def break_and_be_told_of(batch):
    with pytest.raises(ValueError, match="broken by this key"):
        breaks(batch)


def test_keys_that_no_worker_had_begun_get_no_strike(strikes_after):
    assert [strikes_after(wait_in_a_cluster_that_is_killed) for _ in range(5)] == [0] * 5


def test_keys_of_a_killed_worker_get_a_strike_each_time(strikes_after):
    assert [strikes_after(die) for _ in range(3)] == [1, 2, 3]


def test_a_task_that_breaks_is_a_strike(strikes_after):
    assert [strikes_after(break_and_be_told_of) for _ in range(2)] == [1, 2]


def test_a_batch_with_a_lease_expired_before_its_start_is_left_alone(jobs):
    jobs.put(1)
    late = queue.get(NAME)
    done = []

    begun.marks_begun(done.append)(replace(late, expires_at=late.claimed_at))

    assert not done
    assert not BegunBatch.objects.exists()


def test_marks_of_ended_batches_go_with_the_next_and_those_of_killed_workers_after_a_week(jobs):
    jobs.put(1, 2, 3)
    first, second, third = (queue.get(NAME) for _ in range(3))
    does_nothing(first)
    die(second)
    does_nothing(third)
    assert marks() == {second.lease, third.lease}

    assert begun.prune_marks() == 0
    with cursor() as db:
        db.execute("UPDATE trackers_begunbatch SET expires_at = expires_at - interval '8 days'")
    assert begun.prune_marks() == 2


@pytest.mark.django_db(transaction=True)
def test_an_unreachable_database_gives_no_strike(committed_jobs):
    committed_jobs.put(1, 2)
    first, second = queue.get(NAME), queue.get(NAME)
    name = connection.settings_dict["NAME"]

    @begun.marks_begun
    def loses_the_database(batch):
        connection.close()
        elsewhere.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        connection.ensure_connection()

    with psycopg.connect(url_of("postgres"), autocommit=True) as elsewhere:
        try:
            with pytest.raises(OperationalError):
                loses_the_database(first)
        finally:
            elsewhere.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
    does_nothing(second)

    assert marks() == {second.lease}


@pytest.mark.django_db(transaction=True)
def test_a_broken_connection_to_a_running_database_is_a_strike(committed_jobs):
    """A statement that ends its own connection, each time, is one of these keys."""
    committed_jobs.put(1, 2)
    first, second = queue.get(NAME), queue.get(NAME)

    @begun.marks_begun
    def breaks_its_connection(batch):
        with cursor() as db:
            db.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(OperationalError):
        breaks_its_connection(first)
    does_nothing(second)

    assert marks() == {first.lease, second.lease}


def marks():
    return set(BegunBatch.objects.values_list("lease", flat=True))
