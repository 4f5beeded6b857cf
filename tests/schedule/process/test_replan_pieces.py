"""Re-planning is a task in pieces: it blocks nobody, goes on where it stood, and begins anew."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from tests.factories import IntervalFactory, figures
from tests.flows.conftest import wait_until
from tests.jobs.ordinary import enqueued, run_all
from tests.large_tables import QUEUE, TWEETS, fill, fill_what_was_drained, reading
from trackers import tasks
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import intervals
from trackers.schedule.intervals import Plan
from trackers.schedule.models import Interval, Replanning
from trackers.schedule.replan import (
    LOST_AFTER,
    continue_replanning,
    plan_piece,
    replace_lost,
    replan,
    replanning_progress,
)
from trackers.schedule.tweet_changes import check_now
from trackers.updater.models import TweetBucket, TweetUpdate
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
GO_ON = "trackers.tasks.go_on_replanning"
COUNT = 1000


@pytest.fixture
def tweets():
    """A thousand that are due now, and by the list an hour from their last look-up: at once."""
    fill(COUNT)
    Interval.objects.all().delete()
    IntervalFactory(younger_than=30 * DAY, every=10 * HOUR)


def turn():
    return Replanning.objects.get().turn


def planned():
    """How many wait for the time that the list of the moment gives them."""
    collected = 0
    now, plan = intervals.current()
    for due_at in TweetUpdate.objects.values_list("due_at", flat=True):
        collected += abs(due_at - now - plan.tiers[0].every + HOUR) < HOUR / 2
    return collected


def in_another_connection(act):
    def alone():
        try:
            with cursor() as db:
                db.execute("SET lock_timeout = '5s'")
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(alone).result(60)


def test_workers_claim_and_save_while_a_piece_is_planned():
    fill(5 * COUNT)
    claimed = queue.get(TWEET_UPDATE, 50)
    replan()

    with transaction.atomic():
        # One bucket of fifty for each.
        assert plan_piece(turn(), size=20)

        verdicts = [Verdict(id, DAY, figures(1), 2 * DAY) for id in claimed.keys]
        saved = in_another_connection(
            lambda: (
                save_batch(claimed, [Judged(verdicts, at=intervals.current()[0])], Plan(())).ours
            )
        )
        batch = in_another_connection(lambda: queue.claim_batch(TWEET_UPDATE))

    assert saved == set(claimed.keys)
    assert len(batch.keys) >= 100


def test_a_claim_does_not_wait_for_a_piece_that_holds_all_that_is_due(tweets):
    replan()

    with transaction.atomic():
        plan_piece(turn(), size=500)
        while_held = in_another_connection(lambda: queue.claim_batch(TWEET_UPDATE))
    collected = set()
    while batch := queue.get(TWEET_UPDATE, 1000):
        collected.update(batch.keys)

    assert while_held is None
    # The younger half is due later now.
    assert collected == set(TweetUpdate.objects.order_by("key").values_list("key", flat=True)[:500])


def test_a_piece_locks_no_bucket_that_could_be_claimed(tweets):
    TweetBucket.objects.update(due_at=intervals.current()[0] + HOUR)
    replan()

    with transaction.atomic():
        plan_piece(turn(), size=500)
        free = in_another_connection(lambda: TweetBucket.objects.update(urgent=True))

    assert free == COUNT / 100


def test_a_locked_piece_delays_only_acts_on_its_own_tweets(tweets):
    old, *_, young = TweetUpdate.objects.order_by("key").values_list("key", flat=True)
    replan()

    with transaction.atomic():
        plan_piece(turn(), size=500)

        assert in_another_connection(lambda: check_now([old])) == 1
        assert TweetUpdate.objects.get(key=young).due_at > intervals.current()[0] + HOUR


def test_checks_of_resting_and_waiting_tweets_never_deadlock_with_replanning(tweets):
    """The piece wakes the resting one too, and has to wait until that check is put."""
    resting, waiting = TweetUpdate.objects.order_by("key").values_list("key", flat=True)[:2]
    TweetUpdate.objects.filter(key=resting).delete()
    replan()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            assert check_now([resting]) == 1
            piece = thread.submit(in_another_connection, lambda: plan_piece(turn(), size=2 * COUNT))
            wait_until(is_waited_for, what="the piece waits for the check")
            # What the piece waits for comes before what it has locked.
            assert check_now([waiting]) == 1
        piece.result(60)

    row = Replanning.objects.get()
    # Both stay where that check has put them.
    assert (row.seen, row.moved, row.woken) == (COUNT, COUNT - 2, 0)


def is_waited_for():
    """Whether another session waits for a lock of ours."""
    with cursor() as db:
        db.execute(
            "SELECT count(*) FROM pg_locks"
            " WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
        )
        return db.fetchone()[0]


def test_a_task_plans_for_a_while_and_hands_over(tweets):
    replan()
    assert enqueued() == [(GO_ON, 1)]

    continue_replanning(1, at_most=timedelta(0), size=300)

    assert (planned(), replanning_progress().seen) == (300, 300)
    assert enqueued() == [(GO_ON, 1), (GO_ON, 2)]
    assert not replanning_progress().finished


def test_a_requested_replan_is_done_by_any_task(tweets):
    replan()

    run_all()

    assert planned() == COUNT
    assert replanning_progress().finished
    assert replanning_progress().percent == 100
    assert (replanning_progress().moved, replanning_progress().woken) == (COUNT, 0)


def test_a_repeated_task_does_nothing(tweets):
    replan()
    continue_replanning(1, at_most=timedelta(0), size=300)

    continue_replanning(1, size=300)

    assert (planned(), turn()) == (300, 2)


def test_an_uncommitted_piece_is_planned_again(tweets):
    replan()
    plan_piece(1, size=300)
    with transaction.atomic():
        plan_piece(1, size=300, is_last=True)
        transaction.set_rollback(True)

    assert (planned(), replanning_progress().seen, turn()) == (300, 300, 1)
    assert enqueued() == [(GO_ON, 1)]
    continue_replanning(1)
    assert (planned(), replanning_progress().seen) == (COUNT, COUNT)


def test_changed_intervals_restart_the_replan(tweets):
    replan()
    plan_piece(1, size=600)
    Interval.objects.update(every=20 * HOUR)

    continue_replanning(1)

    assert planned() == COUNT
    assert replanning_progress().seen == COUNT


def test_asking_again_restarts_the_replan(tweets):
    replan()
    plan_piece(1, size=600)

    replan()

    assert replanning_progress().seen == 0
    assert not plan_piece(1)
    run_all()
    assert planned() == COUNT


def test_a_lost_replan_continues_and_a_running_one_is_left_alone(tweets):
    replan()
    plan_piece(1, size=300)
    assert not replace_lost()
    now, _ = intervals.current()
    Replanning.objects.update(touched_at=now - 3 * LOST_AFTER)
    assert replanning_progress().lost

    tasks.watch_replanning()

    assert not replanning_progress().lost
    assert enqueued() == [(GO_ON, 1), (GO_ON, 2)]
    run_all()
    assert (planned(), replanning_progress().seen) == (COUNT, COUNT)
    assert not replace_lost()


@pytest.mark.parametrize("filled", [fill, fill_what_was_drained])
def test_each_piece_reads_only_its_own_rows(filled):
    filled(40_000)
    replan()

    with reading() as read:
        plan_piece(1, size=1000)

    assert read.walked == {TWEETS: 0, QUEUE: 0}
    # Found to be locked, to be changed, and to be there.
    assert 1000 <= read.found[QUEUE] <= 4000
    assert read.found[TWEETS] <= 1100
