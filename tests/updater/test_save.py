"""One statement writes metrics, samples and next checks, fenced by the lease."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.factories import TweetFactory, figures, post
from trackers.jobs import queue
from trackers.schedule import intervals
from trackers.schedule.namespace import TWEET_UPDATE
from trackers.tweets.describe import describe
from trackers.tweets.history import history
from trackers.tweets.models import Sample, Tweet, TweetText
from trackers.tweets.record import Change
from trackers.updater.models import TweetUpdate
from trackers.updater.promote import Verdict
from trackers.updater.save import save

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture
def now():
    return intervals.current()[0]


def claimed(*ids):
    for id in ids:
        Tweet.objects.filter(id=id).exists() or TweetFactory(id=id)
        queue.schedule(TWEET_UPDATE, id, timedelta(0))
    return queue.get(TWEET_UPDATE, 100)


def measured(id, likes, due_in=MINUTE):
    return Verdict(id, due_in, figures(likes), 2 * MINUTE)


def everything():
    return (
        list(Tweet.objects.order_by("id").values()),
        list(Sample.objects.values()),
        list(TweetUpdate.objects.order_by("key").values()),
        list(TweetText.objects.values()),
    )


def test_a_save_writes_metrics_and_the_next_check_and_tells_what_changed(now):
    batch = claimed(1, 2)

    saved = save(batch, [measured(1, 5), measured(2, 0)], at=now)

    assert saved.ours == {1, 2}
    assert set(saved.changes) == {
        Change(1, now, None, figures(5)),
        Change(2, now, None, figures(0)),
    }
    assert saved.undescribed == {1, 2}
    assert (
        list(TweetUpdate.objects.values_list("due_at", "lease", "attempts"))
        == [(now + MINUTE, None, 0)] * 2
    )


def test_what_is_unchanged_is_no_change(now):
    save(claimed(1), [measured(1, 5)], at=now)

    saved = save(claimed(1), [measured(1, 5)], at=now + MINUTE)

    assert (saved.ours, saved.changes) == ({1}, ())
    assert history(1)[0].measurements == 2


def test_a_stale_lease_writes_nothing_at_all(now):
    late = claimed(1, 2, 3)
    describe([post(3, created_at=now)])
    TweetUpdate.objects.update(due_at=now - MINUTE)
    rival = queue.get(TWEET_UPDATE, 100)
    before = everything()

    saved = save(
        late,
        [
            measured(1, 5),
            measured(2, 5, due_in=None),
            Verdict(3, MINUTE, missing="not_found", gone=True),
        ],
        at=now,
    )

    assert (saved.ours, saved.changes, saved.undescribed) == (frozenset(), (), frozenset())
    assert everything() == before
    assert save(rival, [measured(1, 6)], at=now).ours == {1}


def test_only_what_is_still_ours_is_written(now):
    batch = claimed(1, 2)
    queue.schedule(TWEET_UPDATE, 1, timedelta(hours=1))

    saved = save(batch, [measured(1, 5), measured(2, 5)], at=now)

    assert saved.ours == {2}
    assert history(1) == []
    assert TweetUpdate.objects.get(key=1).due_at == now + timedelta(hours=1)


def test_the_same_answer_saved_twice_counts_once(now):
    batch = claimed(1)
    save(batch, [measured(1, 5)], at=now)

    assert save(batch, [measured(1, 5)], at=now).ours == frozenset()
    assert history(1)[0].measurements == 1


def test_at_the_end_of_its_cycle_a_tweet_rests_and_is_still_shown(now):
    saved = save(claimed(1), [measured(1, 5, due_in=None)], at=now)

    assert saved.ours == {1}
    assert not TweetUpdate.objects.exists()
    assert Tweet.objects.get().likes == 5


def test_a_missing_tweet_keeps_its_figures_and_the_time_it_was_missed_first(now):
    save(claimed(1), [measured(1, 5)], at=now)
    save(claimed(1), [Verdict(1, MINUTE, missing="not_found")], at=now + MINUTE)
    save(claimed(1), [Verdict(1, MINUTE, missing="suspended")], at=now + 2 * MINUTE)

    tweet = Tweet.objects.get()
    assert tweet.missing_since == now + MINUTE
    assert (tweet.missing_because, tweet.gone_at, tweet.likes) == ("suspended", None, 5)
    assert len(history(1)) == 1


def test_a_gone_tweet_s_text_is_shown_no_more_and_comes_back_with_it(now):
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


def test_what_is_asked_again_is_only_moved(now):
    save(claimed(1), [measured(1, 5)], at=now)
    before = Tweet.objects.values().get()

    saved = save(claimed(1), [Verdict(1, MINUTE)], at=now + MINUTE)

    assert saved.ours == {1}
    assert Tweet.objects.values().get() == before
    assert TweetUpdate.objects.get().due_at == now + MINUTE


def test_a_job_without_a_tweet_ends_without_a_trace(now):
    queue.schedule(TWEET_UPDATE, 99, timedelta(0))

    saved = save(queue.get(TWEET_UPDATE), [measured(99, 5)], at=now)

    assert saved.ours == {99}
    assert saved.changes == ()
    assert history(99) == []
