"""Tweets come in: stored, measured by what came with them, and scheduled, or none of it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.factories import post
from tests.stored_events import events_of as told_events
from tests.stored_events import kinds, ms, subscribe
from trackers.ingest.files.lines import FoundTweet, read_tweets
from trackers.ingest.files.track_lines import track_in_chunks, track_lines
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import tweet_changes
from trackers.tweets.history import history
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.pack import pack
from trackers.tweets.snowflake import first_id_at
from trackers.updater.models import TweetUpdate
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db


def counts_of(*lines):
    done = track_lines(lines, came_from="a test")
    return done.read, done.tracked, done.already, len(done.rejected)


def due_in(id):
    due_at = TweetUpdate.objects.values_list("due_at", flat=True).filter(key=id).first()
    return due_at and due_at - timezone.now()


def tweet(id, *, age=timedelta(minutes=1), likes=3, retrieved_at=None):
    created_at = (timezone.now() - age).isoformat()
    marks = {"__twarc": {"retrieved_at": retrieved_at.isoformat()}} if retrieved_at else {}
    metrics = {"retweet_count": 0, "reply_count": 0, "like_count": likes, "quote_count": 0}
    return json.dumps(
        {"id": str(id), "text": "words", "author_id": "7", "created_at": created_at,
         "public_metrics": metrics, **marks}
    )  # fmt: skip


def versions(*ids, history):
    """One edited tweet in several lines, as files have it."""
    return [
        FoundTweet(id, post(id, likes=1, text=f"version {id}")._replace(edit_history=history))
        for id in ids
    ]


def test_a_file_with_an_edited_tweet_tracks_its_newest_version_once():
    list(track(versions(11, 13, 12, history=(11, 12, 13)), came_from="a test"))

    tweet = Tweet.objects.select_related("tweettext").get()
    assert (tweet.pk, tweet.newest, tweet.tweettext.text) == (11, 13, "version 13")
    said = [one.text for one in TweetVersion.objects.order_by("id")]
    assert said == ["version 11", "version 12", "version 13"]


def test_a_later_file_with_another_version_finds_the_tweet():
    list(track([FoundTweet(12)], came_from="a test"))

    [done] = track(versions(13, history=(11, 12, 13)), came_from="a test")
    [again] = track([FoundTweet(11)], came_from="a test")

    assert (done.tracked, again.tracked) == (0, 0)
    assert Tweet.objects.values_list("id", "newest").get() == (12, 13)


def test_a_new_tweet_publishes_created_once_and_untracking_publishes_deleted():
    counts_of("1")
    subscribe("tweets")
    counts_of("4", "1", "3")
    counts_of(tweet(2), tweet(3))

    assert kinds() == [("create", 3), ("create", 4), ("create", 2)]
    tracked_at = dict(Tweet.objects.values_list("id", "tracked_at"))
    assert [one.t for one in told_events()] == [ms(tracked_at[id]) for id in (3, 4, 2)]

    Tweet.objects.filter(id=1).update(gone_at=timezone.now())
    assert tweet_changes.untrack_tweets([3, 2, 1, 99]) == 3
    # That of 1 was told when X showed it no more.
    assert kinds()[3:] == [("delete", 2), ("delete", 3)]
    assert all(one.t > ms(tracked_at[one.tweet_id]) for one in told_events()[3:])


def test_the_counts_of_a_file_add_up():
    assert counts_of("1", "2", "bad", "2", "", "worse", "3") == (6, 3, 1, 2)
    assert counts_of("3", "4", "bad") == (3, 1, 1, 1)
    assert counts_of("bad") == (1, 0, 0, 1)
    assert counts_of() == (0, 0, 0, 0)


def test_a_bare_id_is_due_at_once_whatever_its_age():
    counts_of("20", "1212092628029698048")

    assert all(due_in(id) < timedelta(seconds=1) for id in (20, 1212092628029698048))
    assert Tweet.objects.get(id=20).came_from == "a test"


def test_young_tweets_are_urgent_with_and_without_metrics():
    young, old = (
        # No zeros at the end, as after a spreadsheet.
        first_id_at(int((timezone.now() - age).timestamp() * 1000)) // 10 * 10 + 17
        for age in (timedelta(minutes=5), timedelta(minutes=30))
    )
    counts_of(str(young), str(old), "20")
    counts_of(tweet(young + 1, age=timedelta(minutes=5)))

    urgent = TweetUpdate.objects.filter(urgent=True).values_list("key", flat=True)
    assert {*urgent} == {young, young + 1}


def test_the_same_file_twice_tracks_once_and_reschedules_nothing():
    lines = ["1", tweet(2), "3"]
    counts_of(*lines[:1])
    queue.schedule(TWEET_UPDATE, 1, timedelta(hours=5))

    assert counts_of(*lines[:1]) == (1, 0, 1, 0)
    assert due_in(1) > timedelta(hours=4)


@pytest.mark.parametrize(
    ("age", "every"),
    [
        (timedelta(minutes=1), timedelta(minutes=1)),
        (timedelta(minutes=20), timedelta(minutes=5)),
        (timedelta(days=2), timedelta(hours=6)),
        (timedelta(days=31), None),
    ],
)
def test_a_tweet_with_metrics_gets_a_first_sample_and_is_planned_by_its_age(age, every):
    counts_of(tweet(1, age=age, retrieved_at=timezone.now()))

    [run] = history(1)
    assert (run.likes, run.measurements) == (3, 1)
    found = Tweet.objects.select_related("tweettext").get()
    assert (found.tweettext.text, found.author_id) == ("words", 7)
    if every is None:
        assert due_in(1) is None
    else:
        assert due_in(1) / every == pytest.approx(1, abs=0.07)


def test_metrics_are_stored_at_the_time_they_were_retrieved():
    at = datetime(2026, 1, 2, tzinfo=UTC)

    counts_of(tweet(1, retrieved_at=at), tweet(2, retrieved_at=timezone.now() + timedelta(days=1)))

    assert history(1)[0].taken_at == at
    assert history(2)[0].taken_at <= timezone.now()


def test_a_file_read_twice_stores_its_measurements_once():
    line = tweet(1, retrieved_at=timezone.now() - timedelta(minutes=5))
    counts_of(line)
    counts_of(line)

    assert sum(run.measurements for run in history(1)) == 1


def test_counts_of_unknown_time_are_no_sample_and_are_looked_up():
    """Streams have zeros, and an archive of 2020 was never measured today."""
    counts_of(tweet(1, likes=0, age=timedelta(days=2000)), tweet(2, likes=500))

    assert history(1) == history(2) == []
    assert all(due_in(id) < timedelta(seconds=1) for id in (1, 2))
    found = Tweet.objects.select_related("tweettext").get(id=1)
    assert (found.tweettext.text, found.measurements, found.likes) == ("words", 0, None)


def test_dated_counts_of_a_tracked_tweet_become_its_history_once():
    now = timezone.now()
    counts_of(tweet(1, likes=9, retrieved_at=now - timedelta(hours=1)))
    old = [tweet(1, likes=n, retrieved_at=now - timedelta(days=n * 100)) for n in (3, 1, 2)]
    newer = tweet(1, likes=12, retrieved_at=now - timedelta(minutes=1))

    counts_of(*old)
    counts_of(newer, *old, tweet(1, likes=77))

    assert [run.likes for run in history(1)] == [3, 2, 1, 9, 12]
    assert Tweet.objects.get().likes == 12
    pack(now=now + timedelta(days=2), deadline=Deadline.after(600))
    counts_of(*old)
    assert [run.likes for run in history(1)] == [3, 2, 1, 9, 12]


def test_several_measurements_of_a_new_tweet_are_all_kept():
    at = timezone.now() - timedelta(days=300)
    subscribe("tweets")

    counts_of(*(tweet(1, likes=n, retrieved_at=at + timedelta(days=n)) for n in (2, 1, 3)))

    assert [run.likes for run in history(1)] == [1, 2, 3]
    assert Tweet.objects.get().likes == 3
    assert kinds() == [("create", 1)]


def test_the_metrics_of_a_tweet_on_several_lines_are_kept():
    counts_of(tweet(1, retrieved_at=timezone.now()), json.dumps({"id": "1"}))

    assert Tweet.objects.get().likes == 3


def test_a_file_does_not_resume_a_paused_tweet():
    counts_of("1")
    tweet_changes.pause_tweets([1])

    counts_of("1")

    assert due_in(1) is None


def test_rejected_lines_take_bounded_memory():
    most = 0
    for chunk in track_in_chunks(("bad" for _ in range(100_000)), came_from="a test"):
        most = max(most, len(chunk.rejected))

    assert most <= 20_000


@pytest.mark.django_db(transaction=True)
def test_a_failed_chunk_stores_nothing():
    def broken():
        yield from (FoundTweet(id) for id in range(1, 20_101))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(track(broken(), came_from="a test"))

    assert Tweet.objects.count() == TweetUpdate.objects.count() == 20_000


def test_a_million_lines_are_read_as_a_stream_whose_beginning_is_judged():
    first = 1212092628029698055
    lines = (str(n) for n in iter(range(first, first + 10**9)))

    reader = read_tweets(lines)

    assert next(reader) == FoundTweet(first)
    assert int(next(lines)) - first <= 100


def test_tweets_of_an_archive_are_described_and_looked_up_at_once_instead_of_measured():
    archive = [{"tweet": {"id_str": "5", "full_text": "mine", "favorite_count": "3",
                          "created_at": "Wed Oct 10 20:19:24 +0000 2018"}}]  # fmt: skip
    text = "window.YTD.tweets.part0 = " + json.dumps(archive, indent=2)

    counts_of(*text.splitlines())

    found = Tweet.objects.select_related("tweettext").get()
    assert (found.tweettext.text, found.measurements, found.likes) == ("mine", 0, None)
    assert due_in(5) < timedelta(seconds=1)
