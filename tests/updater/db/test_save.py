"""One statement writes metrics, samples and next checks, fenced by the lease."""

from datetime import timedelta

import pytest

from tests import queues
from tests.factories import TweetFactory, figures, post
from tests.stored_events import events_of, kinds, ms, subscribe
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import intervals
from trackers.schedule.intervals import Plan
from trackers.tweets.describe import describe
from trackers.tweets.history import history
from trackers.tweets.models import Sample, Tweet, TweetText
from trackers.updater.models import TweetBucket, TweetUpdate
from trackers.updater.save import NOTHING_SAVED, Judged
from trackers.updater.save import save_batch as save_judged
from trackers.updater.verdicts import Verdict

MINUTE = timedelta(minutes=1)


@pytest.fixture
def now():
    return intervals.current()[0]


def claimed(*ids):
    for id in ids:
        Tweet.objects.filter(id=id).exists() or TweetFactory(id=id)
        queue.schedule(TWEET_UPDATE, id, timedelta(0))
    return queue.get(TWEET_UPDATE, 100)


def save(batch, verdicts, **said):
    return save_judged(batch, [Judged(verdicts, **said)], Plan(()))


def measured(id, likes, due_in=MINUTE):
    return Verdict(id, due_in, figures(likes), 2 * MINUTE)


def stored_state():
    return (
        list(Tweet.objects.order_by("id").values()),
        list(Sample.objects.values()),
        list(TweetUpdate.objects.order_by("key").values()),
        list(TweetText.objects.values()),
    )


def by_the_second(at):
    return at.replace(microsecond=0) + timedelta(seconds=1)


def test_a_save_writes_metrics_and_next_check_and_returns_the_changes(now):
    batch = claimed(1, 2)

    saved = save(batch, [measured(1, 5), measured(2, 0)], at=now)

    assert saved.ours == {1, 2}
    assert saved.changed == 2
    assert saved.undescribed == {1, 2}
    due = by_the_second(now + MINUTE)
    assert [*TweetUpdate.objects.values_list("due_at", flat=True)] == [due] * 2
    [bucket] = TweetBucket.objects.all()
    assert (bucket.keys, bucket.due_at) == ([1, 2], due)
    assert queues.states(TweetUpdate) == {(None, 0)}


def test_urgent_tweets_are_marked_until_they_are_older(now):
    def urgent():
        return [*TweetUpdate.objects.filter(urgent=True).values_list("key", flat=True)]

    save(claimed(1, 2), [measured(1, 5)._replace(urgent=True), measured(2, 5)], at=now)
    assert urgent() == [1]

    save(claimed(1, 2), [measured(1, 5), measured(2, 5)], at=now)
    assert urgent() == []


def test_unchanged_metrics_are_no_change(now):
    save(claimed(1), [measured(1, 5)], at=now)

    saved = save(claimed(1), [measured(1, 5)], at=now + MINUTE)

    assert (saved.ours, saved.changed) == ({1}, 0)
    assert history(1)[0].measurements == 2


def test_a_stale_lease_writes_nothing(now):
    late = claimed(1, 2, 3)
    describe([post(3, created_at=now)])
    queues.set_due(TweetUpdate, now - MINUTE)
    rival = queue.get(TWEET_UPDATE, 100)
    before = stored_state()

    saved = save(
        late,
        [
            measured(1, 5),
            measured(2, 5, due_in=None),
            Verdict(3, MINUTE, missing="not_found", gone=True),
        ],
        at=now,
    )

    assert saved == NOTHING_SAVED
    assert stored_state() == before
    assert save(rival, [measured(1, 6)], at=now).ours == {1}


def test_only_keys_still_claimed_are_written(now):
    batch = claimed(1, 2)
    queue.schedule(TWEET_UPDATE, 1, timedelta(hours=1))

    saved = save(batch, [measured(1, 5), measured(2, 5)], at=now)

    assert saved.ours == {2}
    assert history(1) == []
    assert TweetUpdate.objects.get(key=1).due_at == now + timedelta(hours=1)


def test_an_answer_saved_twice_counts_once(now):
    batch = claimed(1)
    save(batch, [measured(1, 5)], at=now)

    assert save(batch, [measured(1, 5)], at=now).ours == frozenset()
    assert history(1)[0].measurements == 1


def test_a_tweet_beyond_its_last_interval_rests_and_is_still_shown(now):
    saved = save(claimed(1), [measured(1, 5, due_in=None)], at=now)

    assert saved.ours == {1}
    assert not TweetUpdate.objects.exists()
    assert Tweet.objects.get().likes == 5


def test_a_missing_tweet_keeps_its_metrics_and_first_missing_time(now):
    save(claimed(1), [measured(1, 5)], at=now)
    save(claimed(1), [Verdict(1, MINUTE, missing="not_found")], at=now + MINUTE)
    save(claimed(1), [Verdict(1, MINUTE, missing="suspended")], at=now + 2 * MINUTE)

    tweet = Tweet.objects.get()
    assert tweet.missing_since == now + MINUTE
    assert (tweet.missing_reason, tweet.gone_at, tweet.likes) == ("suspended", None, 5)
    assert len(history(1)) == 1


def test_the_text_of_a_gone_tweet_is_hidden_until_it_returns(now):
    batch = claimed(1)
    describe([post(1, created_at=now)])
    save(batch, [Verdict(1, MINUTE, missing="not_found")], at=now)
    assert TweetText.objects.exists()

    save(claimed(1), [Verdict(1, MINUTE, missing="not_found", gone=True)], at=now + MINUTE)
    save(claimed(1), [Verdict(1, MINUTE, missing="not_found", gone=True)], at=now + 2 * MINUTE)

    assert not TweetText.objects.exists()
    assert Tweet.objects.get().gone_at == now + MINUTE

    saved = save(claimed(1), [measured(1, 5)], at=now + 3 * MINUTE)

    assert saved.undescribed == {1}
    assert Tweet.objects.get().gone_at is None


def test_a_described_tweet_is_not_described_again(now):
    batch = claimed(1)
    describe([post(1, created_at=now)])

    assert save(batch, [measured(1, 5)], at=now).undescribed == frozenset()


@pytest.mark.parametrize("broken", ["", "a count is a 'text'"], ids=["omitted", "broken"])
def test_an_unreadable_tweet_keeps_its_metrics_with_since_when_and_why(now, broken):
    save(claimed(1), [measured(1, 5)], at=now)
    before = Tweet.objects.values().get()

    for minutes in (1, 2):
        saved = save(claimed(1), [Verdict(1, MINUTE, broken=broken)], at=now + minutes * MINUTE)

    assert saved.ours == {1}
    unreadable = {"unreadable_since": now + MINUTE, "unreadable_reason": broken}
    assert Tweet.objects.values().get() == before | unreadable
    assert TweetUpdate.objects.get().due_at == by_the_second(now + MINUTE)

    save(claimed(1), [measured(1, 5)], at=now + 3 * MINUTE)
    assert Tweet.objects.get().unreadable_since is None


def test_a_job_without_a_tweet_is_removed(now):
    queue.schedule(TWEET_UPDATE, 99, timedelta(0))

    saved = save(queue.get(TWEET_UPDATE), [measured(99, 5)], at=now)

    assert saved.ours == {99}
    assert saved.changed == 0
    assert history(99) == []


def test_a_gone_tweet_publishes_deleted_once_and_created_on_return(now):
    gone = Verdict(1, MINUTE, missing="not_found", gone=True)
    subscribe("tweets")
    save(claimed(1, 2), [measured(1, 5), measured(2, 5)], at=now)
    save(claimed(1), [Verdict(1, MINUTE, missing="not_found")], at=now + MINUTE)
    assert events_of() == []

    # What was measured of it meanwhile is newer than the answer that it is gone.
    Tweet.objects.filter(id=1).update(measured_until=now + 3 * MINUTE)
    save(claimed(1, 2), [gone, measured(2, 6)], at=now + 2 * MINUTE)
    save(claimed(1), [gone], at=now + 3 * MINUTE)
    assert kinds() == [("update", 2), ("delete", 1)]

    save(claimed(1), [measured(1, 5)], at=now + 3 * MINUTE)
    assert kinds()[2:] == [("create", 1)]
    times = [one.t for one in events_of() if one.tweet_id == 1]
    assert times == [ms(now + 3 * MINUTE) + 1] * 2


def test_a_gone_tweet_stores_no_event_without_subscribers(now):
    save(claimed(1), [Verdict(1, MINUTE, missing="not_found", gone=True)], at=now)

    assert Tweet.objects.get().gone_at
    assert events_of() == []


def test_a_job_without_a_tweet_publishes_no_deletion(now):
    subscribe("tweets")
    queue.schedule(TWEET_UPDATE, 99, timedelta(0))

    save(queue.get(TWEET_UPDATE), [Verdict(99, None, missing="not_found", gone=True)], at=now)

    assert events_of() == []
