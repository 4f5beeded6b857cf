"""Under backlog the urgent keys have their share of every batch, and the oldest have the rest."""

from datetime import timedelta

import pytest

from tests.jobs.conftest import NAME
from trackers.jobs import queue
from trackers.updater.models import TweetBucket, TweetUpdate

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
# Keys of these tests: urgent ones are above, and due for a second; the others for an hour.
URGENT = 1000


@pytest.fixture
def due(jobs):
    """Put so many of each kind, and claim in batches of eight."""

    def put(urgent, others):
        jobs.knobs(batch_size=8, arrivals_per_second=1_000_000)
        young = range(URGENT, URGENT + urgent)
        queue.schedule_many(NAME, [(key, -SECOND) for key in young], urgent=young)
        queue.schedule_many(NAME, [(key, -HOUR) for key in range(others)])

    return put


def kinds(batch):
    """How many urgent keys and how many others a batch has."""
    urgent = sum(key >= URGENT for key in batch.keys)
    return urgent, len(batch.keys) - urgent


@pytest.mark.parametrize(
    ("urgent", "others", "batches"),
    [
        pytest.param(0, 20, [(0, 8), (0, 8), (0, 4)], id="nothing is urgent"),
        pytest.param(3, 20, [(3, 5), (0, 8), (0, 7)], id="the urgent need less than their share"),
        pytest.param(20, 20, [(6, 2), (6, 2), (6, 2)], id="they want more: the oldest have theirs"),
        pytest.param(20, 1, [(7, 1), (8, 0), (5, 0)], id="nothing else is due: they have all"),
        pytest.param(2, 2, [(2, 2)], id="there is no backlog"),
    ],
)
def test_urgent_and_oldest_keys_share_each_batch(due, urgent, others, batches):
    due(urgent, others)

    assert [kinds(queue.get(NAME, 8)) for _ in batches] == batches


def test_a_backlog_shrinks_although_urgent_keys_could_fill_every_batch(due):
    due(100, 20)

    claimed = [queue.get(NAME, 8) for _ in range(10)]

    assert {key for batch in claimed for key in batch.keys} >= set(range(20))


def test_a_key_released_in_place_keeps_its_due_time(due, jobs):
    due(0, 20)
    first = queue.get(NAME, 8)

    assert queue.release_in_place(first) == set(first.keys)

    assert queue.get(NAME, 8).keys == first.keys


def test_a_key_released_in_place_keeps_its_urgency(due, jobs):
    due(3, 20)
    batch = queue.get(NAME, 8)

    queue.release_in_place(batch)

    again = queue.get(NAME, 8)
    assert again.keys == batch.keys
    assert kinds(again) == (3, 5)
    assert jobs.row(URGENT)[0] == again.lease


def test_a_released_key_goes_to_the_end(due):
    due(0, 20)
    first = queue.get(NAME, 8)
    queue.release(first)

    claimed = [queue.get(NAME, 8).keys for _ in range(2)]

    assert not {*first.keys} & {*claimed[0]}
    assert len({*first.keys} & {*claimed[1]}) == 4


def test_a_late_release_in_place_changes_nothing(due, jobs):
    due(0, 3)
    late = queue.get(NAME, 8)
    jobs.turn_clock(61 * SECOND)
    rival = queue.get(NAME, 8)

    assert queue.release_in_place(late) == set()
    assert queue.finish(rival, {}) == set(rival.keys)


def test_a_key_of_a_killed_worker_is_no_longer_urgent(due, jobs):
    due(3, 0)
    assert jobs.die() == (URGENT, URGENT + 1, URGENT + 2)

    queue.get(NAME)

    urgent = TweetBucket.objects.filter(urgent=True)
    assert sum(len(bucket.keys) for bucket in urgent) == 0
    assert kinds(queue.get(NAME, 8)) == (2, 0)


def test_lower_bounds_of_both_indexes_hide_earlier_keys(due):
    due(3, 20)
    batch = queue.get(NAME, 8)
    assert batch.next_low.due == batch.due_at
    assert batch.next_low.urgent > batch.due_at + 30 * MINUTE
    bound = queue.Low(batch.due_at, batch.next_low.urgent + MINUTE)
    queue.schedule_many(NAME, [(URGENT, -SECOND)], urgent={URGENT})

    assert kinds(queue.claim_batch(NAME, low=bound)) == (0, 8)
    assert kinds(queue.claim_batch(NAME)) == (1, 7)


def test_rescheduling_makes_a_key_not_urgent_unless_named(due, jobs):
    due(2, 0)

    queue.schedule(NAME, URGENT, HOUR)
    queue.schedule_many(NAME, [(URGENT + 1, HOUR)])

    assert not TweetUpdate.objects.filter(urgent=True).exists()
