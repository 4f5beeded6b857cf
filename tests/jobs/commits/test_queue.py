"""The contract of the queue, one behaviour at a time."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from tests.jobs.conftest import NAME, others_work
from trackers.jobs import queue
from trackers.jobs.begun import mark_begun
from trackers.jobs.models import Queue
from trackers.jobs.queue import Batch

SECOND = timedelta(seconds=1)


def test_a_batch_has_ascending_keys_and_its_times(jobs):
    jobs.put(30, 10, 20)
    jobs.turn_clock(5 * SECOND)

    batch = queue.get(NAME, limit=10)

    assert batch.keys == (10, 20, 30)
    assert batch.queue == NAME
    assert batch.task == "trackers.tasks.update_tweets"
    assert batch.claimed_at - batch.due_at == 5 * SECOND
    assert batch.expires_at - batch.claimed_at == timedelta(seconds=60)
    # Three keys, five seconds late: the class that ends at 5.0.
    assert batch.late == (0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0)


def test_a_batch_has_at_most_the_wanted_keys_oldest_first(jobs):
    for place, key in enumerate((5, 3, 9, 1)):
        jobs.put(key)
        queue.schedule(NAME, key, (place - 10) * SECOND)

    assert queue.get(NAME, limit=2).keys == (3, 5)
    assert queue.get(NAME, limit=1).keys == (9,)
    assert queue.get(NAME).keys == (1,)
    assert queue.get(NAME) is None


def test_keys_that_are_not_due_are_not_claimed(jobs):
    jobs.put(1, delay=SECOND)

    assert queue.get(NAME) is None


def test_a_batch_size_below_one_is_refused(jobs):
    with pytest.raises(ValueError, match="at least one"):
        queue.get(NAME, limit=0)


def test_fencing_tokens_are_random(jobs):
    jobs.put(*range(20))

    leases = [queue.get(NAME).lease for _ in range(20)]

    assert len(set(leases)) == 20
    assert all(0 <= lease < 2**63 for lease in leases)
    assert max(leases) > 2**58
    assert sorted(leases) != leases


@pytest.mark.parametrize(
    "call",
    [
        lambda batch: queue.get("no:such"),
        lambda batch: queue.claim_batch("no:such"),
        lambda batch: queue.ready_in("no:such"),
        lambda batch: queue.schedule("no:such", 1, SECOND),
        lambda batch: queue.schedule_many("no:such", [(1, SECOND)]),
        lambda batch: queue.schedule_many("no:such", []),
        lambda batch: queue.release(batch),
        lambda batch: queue.finish(batch, {}),
        lambda batch: queue.remove_keys("no:such", [1]),
    ],
)
def test_an_unknown_queue_is_a_lookup_error_naming_the_known_ones(jobs, call):
    batch = Batch(1, (1,), timezone.now(), timezone.now(), queue="no:such")

    with pytest.raises(LookupError, match=r"'no:such'.*tweet:update"):
        call(batch)


def test_a_queue_without_its_row_raises_and_loses_nothing(jobs):
    Queue.objects.all().delete()

    with pytest.raises(LookupError, match=NAME):
        queue.schedule_many(NAME, [(1, SECOND)])


def test_scheduling_a_claimed_key_ends_the_claim(jobs):
    jobs.put(1, 2)
    batch = queue.get(NAME, 10)

    queue.schedule(NAME, 1, timedelta(hours=1))

    assert jobs.row(1) == (None, 0)
    assert queue.finish(batch, {1: SECOND, 2: SECOND}) == {2}
    assert jobs.due_in(1) == pytest.approx(3600)


def test_a_late_release_writes_nothing(jobs):
    jobs.put(1)
    batch = queue.get(NAME)
    queue.schedule(NAME, 1, timedelta(hours=1))

    assert queue.release(batch) == set()
    assert jobs.due_in(1) == pytest.approx(3600)


def test_a_late_finish_removes_nothing(jobs):
    jobs.put(1)
    late = queue.get(NAME)
    jobs.turn_clock(timedelta(seconds=61))
    rival = queue.get(NAME)

    assert queue.finish(late, {}) == set()
    assert queue.release(late) == set()
    assert queue.finish(rival, {}) == {1}
    assert jobs.keys() == set()


def test_scheduling_many_ends_claims_too(jobs):
    jobs.put(1, 2)
    batch = queue.get(NAME, 10)

    queue.schedule_many(NAME, [(1, timedelta(hours=1))])

    assert queue.finish(batch, {}) == {2}
    assert jobs.keys() == {1}


def test_finish_reschedules_some_keys_and_removes_the_rest(jobs):
    jobs.put(1, 2, 3)
    batch = queue.get(NAME, 10)

    ours = queue.finish(batch, {2: timedelta(minutes=5), 99: SECOND})

    assert ours == {1, 2, 3}
    assert jobs.keys() == {2}
    assert jobs.row(2) == (None, 0)
    assert jobs.due_in(2) == pytest.approx(300)


def test_a_release_with_a_delay_waits_for_it(jobs):
    jobs.put(1)
    batch = queue.get(NAME)

    assert queue.release(batch, timedelta(seconds=7)) == {1}
    assert jobs.due_in(1) == pytest.approx(7)
    assert jobs.row(1) == (None, 0)


def test_a_partial_batch_waits_until_the_buffer_ttl(jobs):
    jobs.put(1, 2)
    jobs.turn_clock(1.9 * SECOND)
    assert queue.claim_batch(NAME) is None
    assert queue.ready_in(NAME) == pytest.approx(0.1)

    jobs.turn_clock(0.1 * SECOND)

    assert queue.ready_in(NAME) == pytest.approx(0)
    assert queue.claim_batch(NAME).keys == (1, 2)


def test_a_full_batch_is_claimed_at_once(jobs):
    jobs.knobs(batch_size=3)
    jobs.put(1, 2)
    assert queue.claim_batch(NAME) is None
    jobs.put(3, 4)

    assert queue.ready_in(NAME) == 0
    assert queue.claim_batch(NAME).keys.__len__() == 3
    assert queue.claim_batch(NAME) is None


def test_a_batch_size_beyond_the_task_limit_does_not_stop_the_queue(jobs):
    Queue.objects.filter(name="source:poll").update(batch_size=50)
    for key in (1, 2):
        queue.schedule("source:poll", key, -SECOND)

    assert queue.ready_in("source:poll") <= 0
    assert [queue.claim_batch("source:poll").keys for _ in range(2)] == [(1,), (2,)]


def test_the_next_time_is_when_a_batch_fills_before_the_buffer_ttl(jobs):
    jobs.knobs(batch_size=2)
    jobs.put(1, delay=10 * SECOND)
    jobs.put(2, delay=11 * SECOND)

    assert queue.ready_in(NAME) == pytest.approx(11)

    # Where it was before is a dead entry, until a claim meets it.
    jobs.put(2, delay=20 * SECOND)
    jobs.turn_clock(12 * SECOND)
    assert queue.claim_batch(NAME).keys == (1,)


def test_an_empty_queue_has_no_next_time(jobs):
    assert queue.ready_in(NAME) is None


def test_a_paused_queue_has_no_next_time_and_gives_nothing(jobs):
    jobs.put(1)
    jobs.turn_clock(5 * SECOND)
    jobs.knobs(paused=True)

    assert queue.ready_in(NAME) is None
    assert queue.claim_batch(NAME) is None
    assert queue.get(NAME) is None


def test_a_held_queue_waits_for_the_end_of_its_hold(jobs):
    jobs.put(1)
    jobs.turn_clock(5 * SECOND)
    jobs.knobs(held_until=timezone.now() + 30 * SECOND)

    assert 25 < queue.ready_in(NAME) < 35
    assert queue.claim_batch(NAME) is None
    assert queue.get(NAME) is None

    jobs.knobs(held_until=timezone.now() - timedelta(minutes=5))
    assert queue.get(NAME).keys == (1,)


def test_a_claim_without_capacity_isolates_nothing(jobs):
    jobs.put(1)
    assert [jobs.die() for _ in range(3)] == [(1,)] * 3
    jobs.knobs(paused=True)
    before = jobs.row(1)

    assert queue.get(NAME) is None

    assert jobs.row(1) == before


def test_an_expired_lease_makes_keys_due_with_a_strike(jobs):
    jobs.put(1)
    first = queue.get(NAME)
    assert mark_begun(first) is False
    others_work()
    assert queue.get(NAME) is None
    jobs.turn_clock(timedelta(seconds=61))

    second = queue.get(NAME)

    assert second.keys == (1,)
    assert second.lease != first.lease
    assert jobs.row(1) == (second.lease, 1)


def test_a_release_is_no_strike(jobs):
    jobs.put(1)
    for _ in range(5):
        queue.release(queue.get(NAME))

    assert jobs.row(1) == (None, 0)


def test_success_clears_the_strikes(jobs):
    jobs.put(1)
    jobs.die()
    jobs.die()

    queue.finish(queue.get(NAME), {1: timedelta(0)})

    assert jobs.row(1) == (None, 0)


def test_after_four_strikes_a_key_is_isolated_and_never_claimed(jobs, caplog):
    jobs.put(1)
    assert [jobs.die() for _ in range(4)] == [(1,)] * 4

    assert queue.get(NAME, 100) is None

    assert jobs.row(1) == (None, 4)
    assert "isolated 1 keys" in caplog.text
    jobs.turn_clock(timedelta(days=365))
    assert queue.get(NAME, 100) is None


def test_isolating_a_key_does_not_hide_due_keys_behind_it(jobs):
    jobs.put(1)
    for _ in range(4):
        jobs.die()
    jobs.put(2)

    assert queue.get(NAME, limit=1).keys == (2,)


def test_isolated_keys_do_not_isolate_others(jobs):
    jobs.put(*range(1, 6))
    while jobs.row(5)[1] < 4:
        jobs.die()
    jobs.put(6)

    assert queue.get(NAME, 100).keys == (6,)


def test_removing_includes_claimed_keys_and_returns_the_existing(jobs):
    jobs.put(1, 2)
    batch = queue.get(NAME)

    assert queue.remove_keys(NAME, [3, 2, 1]) == {1, 2}
    assert queue.finish(batch, dict.fromkeys(batch.keys, SECOND)) == set()
    assert jobs.keys() == set()


def test_a_lower_bound_skips_older_keys(jobs):
    queue.schedule(NAME, 1, -timedelta(hours=1))
    queue.schedule(NAME, 2, -timedelta(minutes=1))
    low = timezone.now() - timedelta(minutes=30)

    assert queue.claim_batch(NAME, low=queue.Low(low)).keys == (2,)
    assert queue.ready_in(NAME, low=queue.Low(timezone.now() + timedelta(hours=2))) is None
    assert queue.claim_batch(NAME).keys == (1,)


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_key_is_not_scheduled(committed_jobs):
    with transaction.atomic():
        queue.schedule(NAME, 1, SECOND)
        queue.schedule_many(NAME, [(2, SECOND)])
        transaction.set_rollback(True)

    assert committed_jobs.keys() == set()
