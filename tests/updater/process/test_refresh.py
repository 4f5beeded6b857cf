"""A batch against the fake X over HTTP: what it answered is saved, and faults cost nobody."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests import queues
from tests.factories import CredentialFactory
from trackers import tasks
from trackers.credentials.models import Credential
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.observed.models import QueueCounters
from trackers.schedule.models import Interval
from trackers.tweets.models import METRICS, Author, Sample, Tweet, TweetText
from trackers.updater.models import TweetUpdate
from trackers.updater.verdicts import ASK_AGAIN
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    CredentialFactory(name="one")
    return fakex


def tracked(x, count=100):
    ids = x.ids(count)
    list(track((FoundTweet(id) for id in ids), came_from="a test"))
    turn_clock(timedelta(minutes=10))
    return ids


def shown_of(x, count):
    shown = (id for id in x.ids(100) if isinstance(x.get(f"tweets/{id}")["answer"], dict))
    return list(islice(shown, count))


def due(id):
    """In what time it is looked up again."""
    return TweetUpdate.objects.get(key=id).due_at - timezone.now()


def turn_clock(by):
    """As if so much time had passed for the queue: what waits, and what holds it."""
    queues.turn_clock(TweetUpdate, by)
    with cursor() as db:
        db.execute("UPDATE trackers_queue SET held_until = held_until - %s", [by])


def claim():
    return queue.claim_batch(TWEET_UPDATE)


def refresh():
    batch = claim()
    assert batch is not None
    tasks.update_tweets(batch)
    return batch


def held():
    return Queue.objects.values_list("held_reason", "held_until").get(name="tweet:update")


def test_adapting_rows_take_no_statement_more_than_fixed_ones(x):
    """Per batch: the pace is read, worked out and written on the way of the figures."""
    tracked(x)
    taken = []
    for adapts in (
        {},
        {"accuracy": 0.05, "at_most": timedelta(seconds=20), "at_least": timedelta(minutes=5)},
    ):
        Interval.objects.update(jitter=0, **adapts)
        refresh()  # What is asked once after a change of the rows is asked here.
        turn_clock(timedelta(days=30))
        with CaptureQueriesContext(connection) as queries:
            refresh()
        turn_clock(timedelta(hours=1))
        taken.append([query["sql"].split()[0] for query in queries])

    fixed, adapting = taken
    assert len(fixed) > 3
    assert adapting == fixed


def test_saved_metrics_are_those_that_x_answered(x):
    ids = tracked(x)

    batch = refresh()

    [entry] = x.log()
    assert sorted(map(int, entry["ids"])) == list(batch.keys) == sorted(ids)
    answered = timezone.now()
    for text, answer in entry["answers"].items():
        tweet = Tweet.objects.get(id=int(text))
        if isinstance(answer, dict):
            assert tweet.counts() == answer
            assert tweet.measurements == 1
            assert tweet.created_at is not None
            assert abs(tweet.measured_until - answered) < timedelta(seconds=10)
        else:
            assert tweet.missing_reason in {"not_found", "protected", "suspended", "unauthorized"}
            assert tweet.measurements == 0
    shown = sum(isinstance(answer, dict) for answer in entry["answers"].values())
    assert 80 < shown <= 100
    assert TweetText.objects.count() == shown
    assert Author.objects.exists()
    assert not Sample.objects.exists()


def test_each_tweet_is_rescheduled_by_its_age(x):
    tracked(x)

    refresh()

    bounds = {  # age in minutes -> seconds to the next look
        18: 60, 60: 300, 1440: 3600, 7 * 1440: 6 * 3600, 30 * 1440: 86400
    }  # fmt: skip
    for tweet in Tweet.objects.exclude(measurements=0):
        # By its age when it was looked up: it may have passed a bound since.
        looked_at = tweet.measured_until
        minutes = (looked_at - tweet.created_at) / timedelta(minutes=1)
        every = next((every for bound, every in bounds.items() if minutes < bound), None)
        due_at = TweetUpdate.objects.filter(key=tweet.id).values_list("due_at", flat=True).first()
        if every is None:
            assert due_at is None
        else:
            assert (due_at - looked_at).total_seconds() == pytest.approx(every, rel=0.06, abs=10)


# Committed, since the time of the database stands still in a transaction.
@pytest.mark.django_db(transaction=True)
def test_a_second_look_up_sees_changes_and_is_counted(x):
    [id] = [id for id in x.ids(50) if isinstance(x.get(f"tweets/{id}")["answer"], dict)][:1]
    list(track([FoundTweet(id)], came_from="a test"))
    for likes in (5, 5, 3):
        x.put(
            f"tweets/{id}",
            {
                "metrics": {
                    "likes": likes,
                    "retweets": 1,
                    "replies": 0,
                    "quotes": 0,
                    "bookmarks": 0,
                    "views": 9,
                }
            },
        )
        turn_clock(timedelta(days=2))
        refresh()

    counters = QueueCounters.objects.get()
    assert (counters.batches, counters.asked, counters.measured, counters.changed) == (3, 3, 3, 2)
    assert sum(counters.late) == 3
    assert Tweet.objects.get().likes == 3
    assert Sample.objects.values_list("likes", "measurements").get() == (5, 2)


def test_a_key_without_a_tweet_leaves_the_queue_and_costs_no_request(x):
    """As when a tweet is untracked just while a person resumes it."""
    [id] = x.ids(1)
    queue.schedule(TWEET_UPDATE, id, timedelta(0))
    turn_clock(timedelta(minutes=10))

    refresh()

    assert not TweetUpdate.objects.exists()
    assert x.log() == []


def test_an_unreadable_tweet_costs_only_itself(x, caplog):
    ids = tracked(x)
    visible = [id for id in ids if isinstance(x.get(f"tweets/{id}")["answer"], dict)]
    x.put("faults", [{"kind": "broken", "match": {"ids": [str(visible[0])]}}])

    refresh()

    assert Tweet.objects.exclude(measurements=0).count() == len(visible) - 1
    tweet = Tweet.objects.get(id=visible[0])
    assert tweet.unreadable_since is not None
    assert "retweet_count is a text" in tweet.unreadable_reason
    assert f"{visible[0]}: retweet_count is a text" in caplog.text


@pytest.mark.parametrize("kind", ["omit", "broken"])
def test_an_unreadable_tweet_is_logged_once_retried_soon_and_then_by_its_age(x, kind, caplog):
    interval, [id] = timedelta(hours=7), shown_of(x, 1)
    Interval.objects.update(every=interval, jitter=0)
    x.put("faults", [{"kind": kind}])
    list(track([FoundTweet(id)], came_from="a test"))
    turn_clock(timedelta(minutes=1))

    refresh()
    first = Tweet.objects.get()
    due_in = [due(id)]
    for _ in range(2):
        turn_clock(timedelta(days=1))
        refresh()
        due_in.append(due(id))

    assert due_in == pytest.approx([ASK_AGAIN, interval, interval], abs=timedelta(minutes=1))
    assert Tweet.objects.get().unreadable_since == first.unreadable_since is not None
    assert (first.measurements, first.missing_since) == (0, None)
    assert caplog.text.count("1 tweets could not be read") == 1

    x.delete("faults")
    turn_clock(timedelta(days=1))
    refresh()
    assert (Tweet.objects.get().unreadable_since, Tweet.objects.get().measurements) == (None, 1)


def test_a_null_count_keeps_the_other_counts(x):
    [id] = shown_of(x, 1)
    list(track([FoundTweet(id)], came_from="a test"))
    turn_clock(timedelta(minutes=1))
    x.put("faults", [{"kind": "null_count"}])

    refresh()

    [told] = [entry["answers"][str(id)] for entry in x.log()]
    assert Tweet.objects.get().counts() == told
    assert [name for name, count in told.items() if count is None] == ["likes"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("state", "because"), [("deleted", "not_found"), ("protected", "unauthorized")]
)
def test_a_gone_tweet_is_confirmed_and_can_return(x, settings, state, because):
    settings.CONFIRM_GONE_AFTER = timedelta(seconds=0)
    [id] = [id for id in x.ids(50) if isinstance(x.get(f"tweets/{id}")["answer"], dict)][:1]
    list(track([FoundTweet(id)], came_from="a test"))
    turn_clock(timedelta(minutes=1))
    refresh()
    x.put(f"tweets/{id}", {"state": state})
    turn_clock(timedelta(days=2))

    refresh()
    first = Tweet.objects.get()
    assert (first.missing_reason in {because, state}, first.gone_at) == (True, None)
    turn_clock(timedelta(days=2))
    refresh()
    assert Tweet.objects.get().gone_at is not None
    assert not TweetText.objects.exists()

    x.delete(f"tweets/{id}")
    turn_clock(timedelta(days=2))
    refresh()
    tweet = Tweet.objects.get()
    assert (tweet.gone_at, tweet.missing_reason) == (None, "")
    assert TweetText.objects.exists()


def test_a_v1_credential_measures_likes_and_retweets_only(x):
    Credential.objects.update(api="v1.1")
    tracked(x)

    refresh()

    tweet = Tweet.objects.exclude(measurements=0).first()
    counts = tweet.counts()
    assert {name for name in METRICS if counts[name] is not None} == {"retweets", "likes"}
    assert set(Tweet.objects.values_list("missing_reason", flat=True)) <= {"", "unavailable"}


def test_a_tweet_untracked_during_its_look_up_gets_no_sample(x):
    ids = tracked(x)
    batch = claim()
    queue.schedule(TWEET_UPDATE, ids[0], timedelta(hours=1))

    tasks.update_tweets(batch)

    assert Tweet.objects.get(id=ids[0]).measurements == 0


def test_the_time_of_a_measurement_is_that_of_its_answer(x):
    tracked(x, 5)
    x.put("latency", {"ms": 400})

    refresh()

    [entry] = x.log()
    for tweet in Tweet.objects.exclude(measurements=0):
        told = datetime.fromtimestamp(entry["at_ms"] / 1000, UTC)
        assert abs(tweet.measured_until - told) < timedelta(seconds=5)
