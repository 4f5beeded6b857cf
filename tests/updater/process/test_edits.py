"""Edited tweets: whatever X shows for an old version's id, all versions are one tweet here."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum

from tests import queues
from tests.updater.process.test_refresh import refresh, shown_of, turn_clock, x
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.money.models import Spending
from trackers.tweets.history import history
from trackers.tweets.models import Tweet, TweetText, TweetVersion
from trackers.updater.models import TweetUpdate

__all__ = ["x"]

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)


def watch(*ids):
    list(track([FoundTweet(id) for id in ids], came_from="a test"))
    look()


def look():
    turn_clock(DAY)
    refresh()


def edit(x, id, text):
    return int(x.tell("POST", f"edits/{id}", {"text": text})["id"])


def asked(x):
    return [sorted(map(int, entry["ids"])) for entry in x.log()]


def books(x):
    """What we counted, and what X billed."""
    billed = sum(sum(days.values()) for days in x.get("totals")["billed"].values())
    return Spending.objects.aggregate(Sum("posts"))["posts__sum"], billed


def texts():
    """Of all versions, oldest first."""
    return list(TweetVersion.objects.order_by("id").values_list("id", "text"))


@pytest.fixture(params=["newest", "own"])
def either_way(request, x):
    """What X shows for the id of an old version; nothing is paid for today."""
    x.delete("projects")
    x.put("world", {"old_versions": request.param})
    return request.param


def test_an_edited_tweet_is_looked_up_by_its_newest_version(x, either_way):
    [first] = shown_of(x, 1)
    watch(first)
    was = TweetText.objects.get().text
    spent, billed = books(x)

    second = edit(x, first, "second thoughts")
    x.put(f"tweets/{second}", {"metrics": {"likes": 77}})
    for _ in range(3):
        look()

    tweet = Tweet.objects.get()
    assert (tweet.pk, tweet.newest, tweet.likes) == (first, second, 77)
    assert TweetText.objects.get().text == "second thoughts"
    assert texts() == [(first, was), (second, "second thoughts")]
    assert asked(x)[-1] == [second]
    assert history(first)[-1].likes == 77
    assert (tweet.unreadable_since, tweet.missing_since) == (None, None)
    now_spent, now_billed = books(x)
    assert now_spent - spent == now_billed - billed == 1


def test_a_tweet_is_edited_again(x, either_way):
    [first] = shown_of(x, 1)
    watch(first)
    second = edit(x, first, "second")
    look()
    look()
    third = edit(x, second, "third")
    look()
    look()

    assert Tweet.objects.get().newest == third
    assert [text for _, text in texts()][1:] == ["second", "third"]
    assert books(x)[0] == books(x)[1]


def test_separately_tracked_versions_become_one_tweet(x, either_way):
    [first] = shown_of(x, 1)
    second = edit(x, first, "second")
    Tweet.objects.create(id=second, tracked_at="2026-01-01T00:00Z")
    watch(first)
    queues.put(TweetUpdate, second, datetime(2026, 1, 1, tzinfo=UTC))

    for _ in range(3):
        look()

    merged = Tweet.objects.get(id=first)
    assert merged.version_of == second, "the one that was tracked first stays"
    assert not TweetUpdate.objects.filter(key=first).exists()
    assert len(history(first)) >= 1, "its samples are kept"
    assert Tweet.objects.get(id=second).version_of is None
    assert asked(x)[-1] == [second]
    assert TweetText.objects.get().text == "second"
    assert books(x)[0] >= books(x)[1]


def test_two_versions_in_one_request_are_measured_and_become_one_tweet(x, either_way):
    [first] = shown_of(x, 1)
    second = edit(x, first, "second")

    watch(first, second)
    look()

    assert asked(x) == [[first, second], [second]]
    assert Tweet.objects.get(id=second).version_of == first
    assert Tweet.objects.get(id=first).newest == second
    assert books(x)[0] >= books(x)[1]


def test_all_versions_of_a_gone_tweet_are_hidden(x, settings, either_way):
    settings.CONFIRM_GONE_AFTER = timedelta(0)
    [first] = shown_of(x, 1)
    watch(first)
    edit(x, first, "second")
    look()
    look()
    x.put(f"tweets/{first}", {"state": "deleted"})

    look()
    look()

    assert Tweet.objects.get().gone_at is not None
    assert not TweetText.objects.exists()
    assert {text for _, text in texts()} == {None}


def test_a_version_from_a_file_or_source_is_the_tracked_tweet(x):
    [first] = shown_of(x, 1)
    watch(first)
    second = edit(x, first, "second")
    look()

    watch(second)

    assert Tweet.objects.get().pk == first
    assert TweetUpdate.objects.get().key == first


def test_an_unedited_tweet_is_looked_up_as_before(x):
    ids = shown_of(x, 20)
    watch(*ids)
    look()

    assert asked(x)[0] == sorted(ids)
    assert not TweetVersion.objects.exists()
