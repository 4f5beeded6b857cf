"""How many keys go together: whole requests, as many as the queue's batch has room for."""

from datetime import timedelta

import pytest

from tests.jobs.conftest import NAME
from trackers.jobs import queue

FRESH, WAITED = timedelta(0), timedelta(seconds=3)


@pytest.fixture
def due(jobs):
    """So many keys are due, in batches of so many."""

    def put(count, *, batch_size, waited=FRESH):
        jobs.knobs(batch_size=batch_size, arrivals_per_second=1_000_000)
        queue.schedule_many(NAME, ((key, timedelta(0)) for key in range(count)))
        # The last of a burst is due a little later.
        jobs.turn_clock(waited + timedelta(seconds=0.1))

    return put


def sizes():
    """Of all batches that can be claimed now, and whether each is full."""
    found = []
    while batch := queue.claim_batch(NAME):
        found.append((len(batch.keys), batch.is_full))
    return found


@pytest.mark.parametrize(
    ("count", "batch_size", "waited", "batches"),
    [
        pytest.param(99, 1000, FRESH, [], id="less than a request waits for company"),
        pytest.param(100, 1000, FRESH, [(100, False)], id="a request does not wait for a batch"),
        pytest.param(250, 1000, FRESH, [(200, False)], id="the rest waits for company"),
        pytest.param(250, 1000, WAITED, [(200, False), (50, False)], id="until it waited enough"),
        pytest.param(2300, 1000, FRESH, [(1000, True), (1000, True), (300, False)], id="a backlog"),
        pytest.param(500, 250, FRESH, [(200, True), (200, True), (100, False)], id="odd batches"),
        pytest.param(70, 30, FRESH, [(30, True), (30, True)], id="batches below a request"),
    ],
)
def test_a_batch_has_full_requests_and_a_partial_one_only_after_waiting(
    due, count, batch_size, waited, batches
):
    due(count, batch_size=batch_size, waited=waited)

    assert sizes() == batches


def test_the_next_time_is_when_a_request_fills(due):
    due(100, batch_size=1000)
    assert queue.ready_in(NAME) <= 0

    queue.remove_keys(NAME, [7])
    assert queue.claim_batch(NAME) is None
    assert queue.ready_in(NAME) == pytest.approx(1.9)


def test_an_explicit_number_of_keys_is_claimed_exactly(due):
    due(300, batch_size=1000)

    assert len(queue.get(NAME, 250).keys) == 250


def test_the_oldest_keys_have_their_share_of_a_partial_batch(jobs):
    jobs.knobs(batch_size=1000, arrivals_per_second=1_000_000)
    young, old = range(1000, 1120), range(30)
    queue.schedule_many(NAME, [(key, -timedelta(seconds=1)) for key in young], urgent=young)
    queue.schedule_many(NAME, [(key, -timedelta(hours=1)) for key in old])

    first, rest = queue.claim_batch(NAME), queue.claim_batch(NAME)

    assert len({*old} & {*first.keys}) == 25
    assert (len(first.keys), len(rest.keys)) == (100, 50)
