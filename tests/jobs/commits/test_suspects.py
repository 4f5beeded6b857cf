"""Keys whose leases ran out: in ever smaller company, apart from others, and in turn with them."""

from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django_q.signing import SignedPackage

from tests.jobs.conftest import NAME, others_work
from trackers.jobs import queue
from trackers.jobs.begun import mark_begun
from trackers.jobs.broker import PostgresBroker
from trackers.jobs.models import BegunBatch, Queue
from trackers.updater.models import TweetBucket

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


@pytest.fixture
def struck(jobs):
    """Put keys on which so many leases ran out, due for so long."""

    def put(keys, strikes, *, since=HOUR):
        queue.schedule_many(NAME, [(key, -since) for key in keys])
        TweetBucket.objects.filter(keys__overlap=list(keys)).update(strikes=strikes)

    Queue.objects.update(batch_size=1000, arrivals_per_second=1_000_000)
    return put


def all_batches(claim):
    found = []
    while batch := claim():
        found.append(batch)
    return found


@pytest.mark.parametrize(
    ("strikes", "sizes"),
    [(0, [205]), (1, [100, 100, 5]), (2, [*[10] * 20, 5]), (3, [1] * 205)],
)
def test_each_strike_leaves_a_suspect_less_company(struck, strikes, sizes):
    struck(range(205), strikes)

    assert [len(batch.keys) for batch in all_batches(lambda: queue.get(NAME, 1000))] == sizes


def test_a_batch_that_is_small_by_itself_is_not_made_larger(struck):
    struck(range(20), 1)
    struck(range(20, 30), 2, since=MINUTE)
    Queue.objects.update(batch_size=8)

    sizes = [len(batch.keys) for batch in all_batches(lambda: queue.claim_batch(NAME))]

    assert sizes == [8, 8, 4, 8, 2]


def test_a_key_that_kills_its_workers_is_isolated_and_all_others_are_done(struck, jobs):
    deadly, claims, deaths = 7, 0, 0
    struck(range(300), 0)

    while batch := queue.get(NAME, 1000):
        claims += 1
        if deadly in batch.keys:
            deaths += 1
            assert mark_begun(batch) is False
            others_work()
            BegunBatch.objects.update(queue_saved=True, expires_at=batch.due_at)
            TweetBucket.objects.filter(lease=batch.lease).update(due_at=batch.due_at)
        else:
            queue.finish(batch, {})

    assert jobs.keys() == {deadly}
    assert jobs.row(deadly) == (None, 4)
    # All of them; three hundreds; ten tens of its hundred; and the ten of its ten.
    assert (deaths, claims) == (4, 1 + 3 + 10 + 10)


def test_keys_with_different_strikes_are_in_different_batches(struck):
    for strikes in range(4):
        struck(range(10 * strikes, 10 * strikes + 2), strikes, since=(9 - strikes) * MINUTE)

    found = [(batch.strikes, batch.keys) for batch in all_batches(lambda: queue.get(NAME, 1000))]

    assert found == [(0, (0, 1)), (1, (10, 11)), (2, (20, 21)), (3, (30,)), (3, (31,))]


def test_suspects_are_claimed_without_waiting_while_a_full_request_is_due(struck):
    struck(range(60), 1, since=SECOND)
    struck(range(60, 120), 0, since=SECOND / 2)

    assert queue.claim_batch(NAME).keys == tuple(range(60))
    assert queue.claim_batch(NAME) is None
    assert queue.ready_in(NAME) > 0


def test_keys_that_fill_a_request_go_before_waiting_suspects(struck):
    struck([1], 1, since=SECOND)
    struck(range(100, 200), 0, since=SECOND / 2)

    first = queue.claim_batch(NAME)

    assert first.keys == tuple(range(100, 200))
    # The one that was left is not before the bound of the next claim.
    assert queue.ready_in(NAME, low=first.next_low) == pytest.approx(1)


def test_a_released_suspect_keeps_its_strikes(struck, jobs):
    struck([1], 3)
    queue.release(queue.get(NAME))
    jobs.put(2)

    found = {queue.get(NAME, 100).keys, queue.get(NAME, 100).keys}

    assert found == {(1,), (2,)}
    assert jobs.row(1)[1] == 3


def test_a_claim_can_skip_suspects_and_keep_their_place(struck):
    struck(range(5), 3)
    struck(range(10, 15), 2, since=HOUR / 2)
    struck(range(20, 25), 1, since=MINUTE)
    suspects = queue.claim_batch(NAME)

    others = queue.claim_batch(NAME, low=suspects.next_low, fewer_strikes_than=2)

    assert others.keys == tuple(range(20, 25))
    assert queue.claim_batch(NAME, low=others.next_low, fewer_strikes_than=2) is None
    assert queue.claim_batch(NAME, low=others.next_low).strikes == 3


@pytest.mark.django_db(transaction=True)
def test_many_suspects_at_the_head_do_not_delay_others(struck):
    struck(range(300), 2)
    struck(range(1000, 1020), 0, since=MINUTE)
    broker = PostgresBroker("tweetwatch")

    kinds = ["suspects" if max(keys) < 300 else "others" for keys in handed(broker, 3)]

    assert kinds == ["suspects", "others", "suspects"]


@pytest.mark.django_db(transaction=True)
def test_young_keys_do_not_wait_behind_the_suspects_of_a_lost_host(struck):
    struck(range(300), 1)
    struck(range(300, 320), 2, since=MINUTE)
    young = range(1000, 1020)
    queue.schedule_many(NAME, [(key, -3 * SECOND) for key in young], urgent=young)

    first, second, third = handed(PostgresBroker("tweetwatch"), 3)

    assert (first, second, third) == (tuple(range(100)), tuple(young), tuple(range(100, 200)))


@pytest.mark.django_db(transaction=True)
def test_suspects_do_not_wait_when_nothing_else_is_due(struck):
    struck(range(30), 2)

    assert Counter(map(len, handed(PostgresBroker("tweetwatch"), 3))) == {10: 3}


@pytest.mark.django_db(transaction=True)
def test_isolated_keys_are_tried_again_by_the_command(struck, jobs, capsys):
    struck(range(2100), 4)
    for _ in range(4):
        assert queue.get(NAME, 1000) is None
    assert jobs.row(7) == (None, 4)

    call_command("queue", "retry")

    assert f"{NAME}: 2,100 keys are tried again." in capsys.readouterr().out
    assert jobs.row(7) == (None, 0)
    keys = [key for batch in iter(lambda: queue.get(NAME, 1000), None) for key in batch.keys]
    assert sorted(keys) == list(range(2100))
    assert LogEntry.objects.get().change_message.startswith("Retried 2,100 isolated keys, ")


def handed(broker, times):
    """The keys of so many batches, without any rest between two of them."""
    collected = []
    for _ in range(times):
        [(_, pack)] = broker.dequeue()
        [batch] = SignedPackage.loads(pack)["args"]
        collected.append(batch.keys)
    return collected
