"""Strikes: only for what a worker had begun while others could work, and none for the database."""

from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connection, transaction

from tests.databases import url_of
from tests.jobs.conftest import NAME, others_work
from trackers.jobs import begun, queue
from trackers.jobs.models import BegunBatch, Queue
from tweetwatch.database import cursor


@pytest.fixture
def strikes_after(jobs):
    """How many strikes the key has after that task had its batch, and its lease ran out."""
    jobs.put(1)

    def strikes_after(task, *, meanwhile=others_work, connected=queue.ALWAYS):
        batch = queue.get(NAME)
        task(batch)
        meanwhile()
        jobs.turn_clock(timedelta(seconds=70))
        Queue.objects.update(held_until=None)
        again = queue.claim_batch(NAME, connected=connected)
        queue.release(again)
        return again.strikes

    return strikes_after


@pytest.fixture(autouse=True)
def nothing_is_over():
    yield
    begun.ended_leases.clear()


def wait_in_a_cluster_that_is_killed(batch):
    pass


def die(batch):
    assert begun.mark_begun(batch) is not None


@begun.marks_begun
def does_nothing(batch):
    pass


@begun.marks_begun
def saves_nothing(batch):
    return False


@begun.marks_begun
def breaks(batch):
    raise ValueError("broken by this key")


def break_and_report(batch):
    with pytest.raises(ValueError, match="broken by this key"):
        breaks(batch)


def nobody_works():
    pass


def test_keys_that_no_worker_had_begun_get_no_strike(strikes_after):
    assert [strikes_after(wait_in_a_cluster_that_is_killed) for _ in range(5)] == [0] * 5


def test_the_only_key_of_its_queue_is_struck_each_time_while_ordinary_tasks_are_done(strikes_after):
    assert [strikes_after(die) for _ in range(3)] == [1, 2, 3]


def test_a_task_that_breaks_is_a_strike(strikes_after):
    assert [strikes_after(break_and_report) for _ in range(2)] == [1, 2]


def test_no_key_is_struck_while_no_worker_could_save(strikes_after):
    assert [strikes_after(die, meanwhile=nobody_works) for _ in range(5)] == [0] * 5
    assert strikes_after(die) == 1


def test_a_claimer_that_lost_the_database_within_the_lease_strikes_nothing(strikes_after):
    lost_within = timedelta(seconds=69)
    lost_before = timedelta(seconds=72)

    assert [strikes_after(die, connected=lost_within) for _ in range(3)] == [0] * 3
    assert strikes_after(die, connected=lost_before) == 1


class TestOthersOfTheQueue:
    """Two batches of a queue: the first one's worker dies."""

    @pytest.fixture
    def strikes(self, jobs):
        jobs.put(1, delay=timedelta(seconds=-2))
        jobs.put(2, delay=timedelta(seconds=-1))
        first, second = queue.get(NAME), queue.get(NAME)
        die(first)

        def strikes(end):
            end(second)
            jobs.turn_clock(timedelta(seconds=61))
            return {key: batch.strikes for batch in claims() for key in batch.keys}

        def claims():
            while batch := queue.get(NAME):
                yield batch

        return strikes

    def test_a_batch_that_was_saved_proves_that_the_other_could_have_been(self, strikes):
        assert strikes(does_nothing)[1] == 1

    def test_a_batch_that_saved_nothing_proves_nothing(self, strikes):
        assert strikes(saves_nothing)[1] == 0

    def test_while_others_were_due_and_none_was_saved_other_queues_prove_nothing(self, strikes):
        def die_too(batch):
            die(batch)
            others_work()

        assert strikes(die_too) == {1: 0, 2: 0}


def test_two_keys_that_kill_their_workers_do_not_protect_each_other(jobs):
    jobs.put(1, 2)

    for _ in range(12):
        while batch := queue.get(NAME, 100):
            die(batch)
        others_work()
        jobs.turn_clock(timedelta(seconds=61))

    assert [jobs.row(key) for key in (1, 2)] == [(None, 4), (None, 4)]


# Not in a transaction of the test: a connection that is read-only is closed.
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", ["53100", "53200", "25006", "42501", "58030"])
def test_keys_that_a_server_cannot_save_go_back_and_their_queue_is_held(
    committed_jobs, caplog, sqlstate
):
    committed_jobs.put(1)

    fails_with(sqlstate)(queue.get(NAME))

    row = Queue.objects.get(name=NAME)
    assert row.save_failures == 1
    assert row.held_reason == (
        f"The database could not save: {psycopg.errors.lookup(sqlstate).__name__}: no room. "
        "Make room, or let it write again; everything goes on by itself."
    )
    assert queue.get(NAME) is None, "held"
    assert marks() == set()
    Queue.objects.update(held_until=None)
    again = queue.get(NAME)
    assert (again.keys, again.strikes) == ((1,), 0)
    assert "1 keys of tweet:update could not be saved: " in caplog.text


@pytest.mark.parametrize("sqlstate", ["42703", "42P01"])
def test_a_missing_column_holds_the_queue_and_strikes_keys_only_if_others_of_it_are_saved(
    jobs, sqlstate
):
    jobs.put(1, 2)
    strikes = []

    for is_other_saved in (False, False, True, True):
        batches = each_key_alone()

        @begun.marks_begun
        def fails(batch, other=batches[2]):
            does_nothing(other)  # That it was saved before proves nothing.
            raise_in_database(sqlstate)

        fails(batches[1])
        others_work()
        assert Queue.objects.get(name=NAME).held_reason == (
            f"The database could not save: {psycopg.errors.lookup(sqlstate).__name__}: no room. "
            "Run manage.py migrate. If that changes nothing, please report it."
        )
        assert queue.get(NAME) is None, "held"
        assert batches[1].lease in marks()
        if is_other_saved:
            does_nothing(batches[2])
        jobs.turn_clock(timedelta(seconds=61))
        Queue.objects.update(held_until=None, save_failures=0)
        batches = each_key_alone()
        strikes.append((batches[1].strikes, batches[2].strikes))
        for batch in batches.values():
            queue.release(batch)

    assert strikes == [(0, 0), (0, 0), (1, 0), (2, 0)]


def test_a_long_reason_keeps_its_next_step(jobs):
    jobs.put(1)

    fails_with("53100", "no room for " + "x" * 1000)(queue.get(NAME))

    assert Queue.objects.get(name=NAME).held_reason.endswith("goes on by itself.")


@pytest.mark.parametrize("sqlstate", ["40P01", "40001", "55P03"])
def test_a_conflict_only_makes_its_keys_wait_a_little(jobs, sqlstate):
    jobs.put(1, 2)
    Queue.objects.update(retry_first=timedelta(seconds=5))

    fails_with(sqlstate)(queue.get(NAME))

    row = Queue.objects.get(name=NAME)
    assert (row.save_failures, row.held_until, row.held_reason) == (0, None, "")
    assert marks() == set()
    assert queue.get(NAME).keys == (2,), "the queue goes on"
    jobs.turn_clock(timedelta(seconds=6))
    again = queue.get(NAME)
    assert (again.keys, again.strikes) == ((1,), 0)


def test_a_trial_that_meets_a_conflict_leaves_the_next_one_to_others(jobs):
    jobs.put(1, 2)
    fails_with("53100")(queue.get(NAME))
    Queue.objects.update(held_until=None)

    fails_with("40P01")(queue.get(NAME))

    row = Queue.objects.get(name=NAME)
    assert (row.save_failures, row.trial_until, row.held_until) == (1, None, None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", ["22003", "23514", "54000", "XX001", "57014", "P0001"])
def test_an_error_that_values_may_cause_leaves_its_mark(committed_jobs, sqlstate):
    committed_jobs.put(1)
    batch = queue.get(NAME)

    @begun.marks_begun
    def fails(batch):
        raise_in_database(sqlstate)

    with pytest.raises(DatabaseError):
        fails(batch)

    assert marks() == {batch.lease}
    assert Queue.objects.get(name=NAME).save_failures == 0


def test_while_saves_fail_one_request_at_a_time_is_tried(jobs):
    jobs.knobs(batch_size=1000, arrivals_per_second=1_000_000)
    queue.schedule_many(NAME, [(key, timedelta(seconds=-9)) for key in range(250)])
    tried = []

    @begun.marks_begun
    def fails(batch):
        tried.append(len(batch.keys))
        raise_in_database("53100")

    @begun.marks_begun
    def works(batch):
        # Another worker that claimed meanwhile.
        other = queue.get(NAME, 1000)
        fails(other)
        assert queue.get(NAME) is None, "it is held until this one is done"
        tried.append(len(batch.keys))
        queue.finish(batch, {})

    fails(queue.get(NAME, 1000))
    Queue.objects.update(held_until=None)
    works(queue.get(NAME, 200))

    assert tried == [250, 100]
    row = Queue.objects.get(name=NAME)
    assert (row.save_failures, row.trial_until, row.held_until) == (0, None, None)
    assert len(queue.get(NAME, 1000).keys) == 150


def test_a_trial_that_fails_holds_the_queue_twice_as_long(jobs):
    jobs.put(1)
    waits = []

    @begun.marks_begun
    def fails(batch):
        raise_in_database("53100")

    for _ in range(4):
        Queue.objects.update(held_until=None)
        fails(queue.get(NAME))
        with cursor() as db:
            [(wait,)] = db.execute(
                "SELECT extract(epoch FROM held_until - now())::float8 FROM trackers_queue"
                " WHERE name = %s", [NAME],
            ).fetchall()  # fmt: skip
        waits.append(wait)

    assert [5 * 2**n * 0.8 <= wait <= 5 * 2**n * 1.2 for n, wait in enumerate(waits)] == [True] * 4


def test_a_batch_with_a_lease_expired_before_its_start_is_left_alone(jobs):
    jobs.put(1)
    late = queue.get(NAME)
    done = []

    begun.marks_begun(done.append)(replace(late, expires_at=late.claimed_at))

    assert not done
    assert not BegunBatch.objects.exists()


def test_marks_of_ended_batches_go_at_once_and_those_of_killed_workers_after_a_week(jobs):
    jobs.put(1, 2, 3)
    first, second, third = (queue.get(NAME) for _ in range(3))
    does_nothing(first)
    die(second)
    does_nothing(third)
    assert marks() == {second.lease}

    assert begun.prune_marks() == 0
    with cursor() as db:
        db.execute("UPDATE trackers_begunbatch SET expires_at = expires_at - interval '8 days'")
    assert begun.prune_marks() == 1


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
    assert marks() == {first.lease}
    does_nothing(second)

    assert marks() == set()


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

    assert marks() == {first.lease}
    assert BegunBatch.objects.get().queue_saved


def each_key_alone():
    """All that is due, in batches of one key: each by its key."""
    return {batch.keys[0]: batch for batch in iter(lambda: queue.get(NAME), None)}


def fails_with(sqlstate, words="no room"):
    @begun.marks_begun
    def fails(batch):
        raise_in_database(sqlstate, words)

    return fails


def marks():
    return set(BegunBatch.objects.values_list("lease", flat=True))


def raise_in_database(sqlstate, words="no room"):
    """An error of that kind, in a savepoint, so that the test's own transaction goes on."""
    with transaction.atomic(), cursor() as db:
        db.execute(f"DO $$ BEGIN RAISE '{words}' USING ERRCODE = '{sqlstate}'; END $$")
