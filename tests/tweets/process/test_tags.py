"""Tags: put and taken, renamed, merged and removed, by whoever else is at it at the same time."""

import threading
import time

import psycopg
import pytest
from django.db import connection, connections, transaction

from tests.databases import url_of
from tests.factories import TweetFactory
from tests.plans import watched
from trackers import tasks
from trackers.schedule import tweet_changes
from trackers.tweets.finding.direction import Direction
from trackers.tweets.models import Tweet
from trackers.tweets.tags import acts, tagging
from trackers.tweets.tags.models import Tag, TweetTag
from trackers.tweets.tags.names import (
    InvalidTagName,
    clean_name,
    find_tag,
    get_or_create_tag,
    offered_tags,
)
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db
MANY = 20_000


@pytest.fixture
def three():
    for id in (1, 2, 3):
        TweetFactory(id=id)


def soon():
    return Deadline.after(60)


def test_letters_with_equal_lowercase_are_one_name():
    """Looked for in one way and refused in another, the name would be made again for ever."""
    assert get_or_create_tag("Stra\N{LATIN CAPITAL LETTER SHARP S}e") == get_or_create_tag(
        "stra\N{LATIN SMALL LETTER SHARP S}e"
    )


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        pytest.param(" #launch ", "launch", id="with its #"),
        pytest.param("two\n  words", "two words", id="blanks"),
        pytest.param("Ca\u0301fe", "C\u00e1fe", id="composed"),
        pytest.param("東京", "東京", id="Japanese"),
    ],
)
def test_a_name_is_trimmed(typed, name):
    assert clean_name(typed) == name


@pytest.mark.parametrize("typed", [" # ", "", "a" * 41, "one,two", "a\x07b", "a\u202eb"])
def test_an_invalid_name_is_refused_with_what_to_do(typed):
    with pytest.raises(InvalidTagName, match=r"\."):
        clean_name(typed)
    assert find_tag(typed) is None


def test_a_tag_ignores_case():
    launch = get_or_create_tag("Launch")

    assert get_or_create_tag("#LAUNCH") == launch == find_tag("launch")
    assert offered_tags() == ["Launch"]


def test_tags_are_added_to_tracked_tweets_only_and_removed(three):
    tag = get_or_create_tag("launch")

    assert tagging.tag_tweets(tag.pk, [3, 1, 99]) == 2
    assert tagging.tag_tweets(tag.pk, [1, 2]) == 1
    assert tagging.tags_of([1, 2, 3, 4]) == {1: ["launch"], 2: ["launch"], 3: ["launch"]}
    assert tagging.untag_tweets(tag.pk, [1, 99]) == 1
    assert tagging.candidates_tagged(tag.pk, Direction(), 1).ids == [3]
    assert tagging.candidates_tagged(tag.pk, Direction(2, up=True), 9).ids == [3]
    assert tagging.tagged_among(tag.pk, [1, 2]) == {2}


def test_untracking_a_tweet_removes_its_tags(three):
    tag = get_or_create_tag("launch")
    tagging.tag_tweets(tag.pk, [1, 2])

    tweet_changes.untrack_tweets([1])

    assert list(TweetTag.objects.values_list("tweet_id", flat=True)) == [2]


def test_merged_tags_disappear_at_once_and_their_tweets_are_moved(three):
    old, older, new = get_or_create_tag("old"), get_or_create_tag("older"), get_or_create_tag("new")
    tagging.tag_tweets(old.pk, [1, 2])
    tagging.tag_tweets(older.pk, [3])
    tagging.tag_tweets(new.pk, [2])

    # Into one that is itself merged, before anything was moved.
    assert acts.end_tags([older], into=old) == 1
    assert acts.end_tags([old, new], into=new) == 1
    assert offered_tags() == ["new"]
    assert tagging.tag_tweets(old.pk, [3]) == 0
    # The name is free again, for another tag.
    get_or_create_tag("old")
    tasks.sweep_tags()

    assert tagging.tags_of([1, 2, 3]) == {1: ["new"], 2: ["new"], 3: ["new"]}
    assert [tag.name for tag in Tag.objects.by_name()] == ["new", "old"]
    assert TweetTag.objects.count() == 3


def test_merging_into_a_removed_tag_is_refused():
    one, two = get_or_create_tag("one"), get_or_create_tag("two")
    acts.end_tags([two])

    assert acts.end_tags([one], into=two) == 0
    assert offered_tags() == ["one"]


def test_a_removed_tag_is_deleted_in_pieces(three, monkeypatch):
    tag = get_or_create_tag("launch")
    tagging.tag_tweets(tag.pk, [1, 2, 3])
    monkeypatch.setattr(acts, "SWEEP", acts.SWEEP.replace("LIMIT 5000", "LIMIT 2"))

    acts.end_tags([tag])
    assert tagging.tags_of([1]) == {}
    worked = acts.sweep_ended(deadline=Deadline.after(0))
    assert (worked.rows, worked.left) == (2, 1)
    assert acts.sweep_ended(deadline=soon()).rows == 1

    assert not Tag.objects.exists()
    assert Tweet.objects.count() == 3


def wait_for_a_lock():
    statement = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
    """
    end = time.monotonic() + 60
    with psycopg.connect(url_of(connection.settings_dict["NAME"]), autocommit=True) as other:
        while not other.execute(statement).fetchone()[0]:
            assert time.monotonic() < end, "nobody waits for a lock"
            time.sleep(0.02)


def beside(act):
    """In a thread, with a connection of its own; its result is a list of one."""
    done = []

    def run():
        done.append(act())
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, done


@pytest.mark.django_db(transaction=True)
def test_a_tweet_untracked_during_tagging_leaves_no_tag():
    TweetFactory(id=1)
    tag = get_or_create_tag("launch")

    with transaction.atomic():
        tagging.tag_tweets(tag.pk, [1])
        thread, done = beside(lambda: tweet_changes.untrack_tweets([1]))
        wait_for_a_lock()
    thread.join()

    assert done == [1]
    assert not TweetTag.objects.exists()

    TweetFactory(id=2)
    with transaction.atomic():
        tweet_changes.untrack_tweets([2])
        thread, done = beside(lambda: tagging.tag_tweets(tag.pk, [2]))
        wait_for_a_lock()
    thread.join()

    assert done == [0]
    assert not TweetTag.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_tag_removed_during_tagging_leaves_no_row():
    TweetFactory(id=1)
    tag = get_or_create_tag("launch")

    with transaction.atomic():
        tagging.tag_tweets(tag.pk, [1])
        thread, done = beside(lambda: acts.end_tags([tag]))
        wait_for_a_lock()
    thread.join()
    acts.sweep_ended(deadline=soon())

    assert done == [1]
    assert not TweetTag.objects.exists()
    assert not Tag.objects.exists()


FILL = """
    INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason, measurements)
    SELECT n, now(), '', false, '', 0 FROM generate_series(1, %(many)s) n
"""
FILL_TAG = """
    INSERT INTO trackers_tweettag (tag_id, tweet_id)
    SELECT %(tag)s, n FROM generate_series(1, %(many)s) n WHERE n %% 2 = 0
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_analyzed", [True, False])
def test_no_statement_about_tags_reads_a_whole_table(monkeypatch, is_analyzed):
    """Whatever the statistics say."""
    large, target = get_or_create_tag("large"), get_or_create_tag("target")
    with cursor() as db:
        db.execute(FILL, {"many": MANY})
        db.execute(FILL_TAG, {"many": MANY, "tag": large.pk})
        if is_analyzed:
            db.execute("ANALYZE trackers_tweet, trackers_tweettag, trackers_tag")
    ids = list(range(1, 101))
    with watched(monkeypatch) as seen, transaction.atomic():
        tagging.tag_tweets(target.pk, ids)
        tagging.untag_tweets(target.pk, ids)
        tagging.tags_of(ids)
        tagging.candidates_tagged(large.pk, Direction(MANY // 2), 51)
        tagging.candidates_tagged(large.pk, Direction(MANY // 2, up=True), 51)
        tagging.tagged_among(large.pk, ids)
        acts.count_tagged(large, 1000)
        acts.end_tags([large], into=target)
        with cursor() as db:
            db.execute(acts.SWEEP, {"tag": large.pk, "into": target.pk})
            db.execute(acts.SWEEP_LEFT)

    assert seen.reached
    for reach in seen.reached:
        if reach.table in ("trackers_tweet", "trackers_tweettag"):
            assert reach.how != "Seq Scan", reach
            assert reach.rows <= MANY // 2, reach
