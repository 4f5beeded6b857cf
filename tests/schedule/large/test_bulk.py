"""An act on many tweets: to those that were chosen, in pieces, whatever dies in between."""

from datetime import timedelta

import pytest
from django.db.models import F

from tests.factories import TweetFactory
from tests.jobs.ordinary import enqueued, run_all
from trackers import tasks
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.ingest.sources.only_here import remove_with_tweets
from trackers.schedule import bulk
from trackers.schedule.models import BulkAct, BulkPiece
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db

GO_ON = "trackers.tasks.go_on_with_bulk_act"
MANY = 2500


def fill(**given):
    Tweet.objects.bulk_create(TweetFactory.build(id=n, **given) for n in range(1, MANY + 1))


def begin(act="untrack"):
    return bulk.begin_act(act, Tweet.objects.values_list("pk"), by="ada")


def test_a_bulk_act_changes_only_the_chosen_tweets():
    fill()
    act = begin()
    TweetFactory(id=9999)
    assert [len(piece.ids) for piece in BulkPiece.objects.order_by("pk")] == [1000, 1000, 500]

    run_all()

    act.refresh_from_db()
    assert (act.seen, act.done, act.percent) == (MANY, MANY, 100)
    assert act.finished_at is not None
    assert [tweet.pk for tweet in Tweet.objects.all()] == [9999]


def test_a_task_hands_over_and_an_outdated_one_does_nothing():
    fill()
    act = begin()

    assert not bulk.continue_act(act, act.turn, at_most=timedelta(0))
    assert Tweet.objects.count() == MANY - 1000
    assert enqueued()[-1] == (GO_ON, act.pk, 2)
    assert not bulk.continue_act(act, 1)
    tasks.go_on_with_bulk_act(act.pk, 1)
    assert Tweet.objects.count() == MANY - 1000
    run_all()

    assert not Tweet.objects.exists()


def test_a_bulk_act_of_a_killed_worker_continues():
    fill()
    act = begin()
    tasks.watch_replanning()
    assert enqueued() == [(GO_ON, act.pk, 1)]
    BulkAct.objects.update(touched_at=F("touched_at") - 2 * bulk.LOST_AFTER)

    tasks.watch_replanning()

    assert enqueued()[-1] == (GO_ON, act.pk, 2)
    run_all()
    assert not Tweet.objects.exists()


def test_old_bulk_acts_are_pruned():
    fill()
    begin()
    run_all()
    begin("pause")
    BulkAct.objects.update(finished_at=F("finished_at") - bulk.KEEP_ACTS_FOR - timedelta(days=1))

    tasks.prune_counters()

    assert [act.act for act in BulkAct.objects.all()] == ["pause"]


def yielded(source, *ids):
    SourceTweet.objects.bulk_create(
        SourceTweet(source=source, tweet_id=id, seen_at="2026-01-01T00:00Z") for id in ids
    )


def test_a_source_is_removed_after_its_tweets_and_keeps_those_of_other_sources():
    source, other = (Source.objects.create(kind="search", of=word) for word in ("moon", "mars"))
    fill(came_from=str(source))
    yielded(source, *range(1, MANY + 1))
    yielded(other, 5)

    act = remove_with_tweets(source, by="ada")
    assert act.tweets == MANY - 1
    assert remove_with_tweets(source, by="bob") is None
    source.refresh_from_db()
    assert source.paused_at is not None
    # Another source finds one before its piece is done.
    yielded(other, 7)
    run_all()

    assert set(Tweet.objects.values_list("pk", flat=True)) == {5, 7}
    assert list(Source.objects.all()) == [other]


def test_a_source_stays_when_its_removal_is_stopped():
    source = Source.objects.create(kind="search", of="moon")
    fill(came_from=str(source))
    yielded(source, *range(1, MANY + 1))
    act = remove_with_tweets(source, by="ada")

    assert bulk.stop_acts([act.pk]) == 1
    run_all()

    assert Source.objects.get() == source
    assert Tweet.objects.count() == MANY
