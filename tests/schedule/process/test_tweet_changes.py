"""What a person does to tweets, also while a worker holds them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from tests.factories import TweetFactory, figures, post
from tests.x import wait_until
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import tweet_changes
from trackers.schedule.intervals import Plan
from trackers.tweets.describe import describe
from trackers.tweets.history import history
from trackers.tweets.models import PackedSamples, Sample, Tweet, TweetText
from trackers.tweets.record import Measured, record
from trackers.updater.models import TweetUpdate
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db

NOW = timedelta(0)
HOUR = timedelta(hours=1)


def tracked(id, *, due=HOUR):
    TweetFactory(id=id)
    if due is not None:
        queue.schedule(TWEET_UPDATE, id, due)


def claimed(id):
    tracked(id, due=NOW)
    return queue.get(TWEET_UPDATE)


def answer(batch):
    """A worker's late answer."""
    verdicts = [Verdict(id, HOUR, figures(9)) for id in batch.keys]
    return save_batch(batch, [Judged(verdicts, at=batch.claimed_at)], Plan(()))


def due_in(id):
    with cursor() as db:
        found = db.execute(
            "SELECT due_at - now() FROM trackers_tweetupdate WHERE key = %s", [id]
        ).fetchone()
    return found and found[0]


def test_a_paused_tweet_is_not_looked_up():
    tracked(1)

    assert tweet_changes.pause_tweets([1, 2]) == 1
    assert tweet_changes.pause_tweets([1]) == 0

    assert due_in(1) is None
    assert Tweet.objects.get().paused


def test_pausing_a_claimed_tweet_ends_the_claim():
    batch = claimed(1)

    tweet_changes.pause_tweets([1])

    assert answer(batch).ours == frozenset()
    assert due_in(1) is None
    assert history(1) == []


def test_a_resumed_tweet_is_due_now():
    tracked(1)
    tracked(2)
    tweet_changes.pause_tweets([1])

    assert tweet_changes.resume_tweets([1, 2]) == 1

    assert (due_in(1), due_in(2)) == (NOW, HOUR)
    assert not Tweet.objects.get(id=1).paused


def test_checking_makes_waiting_and_resting_tweets_due_now():
    tracked(1)
    tracked(2, due=None)
    tracked(3, due=-HOUR)

    assert tweet_changes.check_now([3, 2, 1, 99]) == 3

    assert (due_in(1), due_in(2), due_in(3)) == (
        NOW,
        NOW,
        pytest.approx(-HOUR, abs=timedelta(seconds=1)),
    )
    assert due_in(99) is None


def test_checking_leaves_a_claim_alone():
    batch = claimed(1)

    assert tweet_changes.check_now([1]) == 0

    assert answer(batch).ours == {1}


def test_checking_leaves_a_paused_tweet_paused():
    tracked(1)
    tweet_changes.pause_tweets([1])

    assert tweet_changes.check_now([1]) == 0
    assert due_in(1) is None


def test_checking_an_isolated_tweet_clears_its_strikes():
    tracked(1)
    tracked(2)
    TweetUpdate.objects.filter(key=1).update(strikes=4)

    assert tweet_changes.check_now([1]) == 1

    assert due_in(1) == NOW
    assert TweetUpdate.objects.get(key=1).strikes == 0
    assert due_in(2) == HOUR


def test_untracking_a_tweet_leaves_no_rows():
    for id in (1, 2):
        tracked(id)
        describe([post(id)])
        for minutes in (0, 1, 2):
            at = Tweet.objects.get(id=1).tracked_at + timedelta(minutes=minutes)
            record([Measured(id, at, figures(minutes), HOUR)])
    PackedSamples.objects.create(
        tweet_id=1,
        month="2026-01-01",
        taken_at=[],
        measured_until=[],
        measurements=[],
        retweets=[],
        replies=[],
        likes=[],
        quotes=[],
        bookmarks=[],
        views=[],
    )

    assert tweet_changes.untrack_tweets([1, 99]) == 1

    assert due_in(1) is None
    assert history(1) == []
    for model, column in (
        (Tweet, "id"),
        (TweetText, "tweet_id"),
        (Sample, "tweet_id"),
        (PackedSamples, "tweet_id"),
    ):
        assert not model.objects.filter(**{column: 1}).exists()
    assert len(history(2)) == 3


@pytest.mark.django_db(transaction=True)
def test_a_tweet_described_during_untracking_loses_its_text():
    tracked(1)

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            # As a worker that has just met it.
            describe([post(1)])
            untracked = thread.submit(untrack_in_a_session_of_its_own, 1)
            wait_until(waits_for_us)
        assert untracked.result(60) == 1

    assert not Tweet.objects.exists()
    assert not TweetText.objects.exists()


def untrack_in_a_session_of_its_own(id):
    try:
        return tweet_changes.untrack_tweets([id])
    finally:
        connection.close()


def waits_for_us():
    with cursor() as db:
        waiting = "SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY("
        return db.execute(f"{waiting}pg_blocking_pids(pid))").fetchone() is not None


def test_untracking_a_claimed_tweet_ends_the_claim():
    batch = claimed(1)

    tweet_changes.untrack_tweets([1])

    assert answer(batch).ours == frozenset()
    assert not Tweet.objects.exists()
    assert history(1) == []


def test_a_requested_check_does_not_wait_behind_a_backlog():
    for id in range(1, 31):
        tracked(id, due=-HOUR)
    tracked(99)

    tweet_changes.check_now([99])

    assert 99 in queue.get(TWEET_UPDATE, 10).keys
