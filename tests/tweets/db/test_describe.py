"""What X tells of a tweet itself: author, birth and text."""

from datetime import UTC, datetime

import pytest

from tests.factories import TweetFactory, post
from trackers.tweets.describe import describe
from trackers.tweets.models import Author, Tweet, TweetText

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_author_creation_time_and_text_are_stored():
    TweetFactory(id=1)

    describe([post(1, created_at=AT)])

    tweet = Tweet.objects.select_related("tweettext", "author").get()
    assert (tweet.created_at, tweet.author.id) == (AT, 7)
    assert (tweet.tweettext.text, tweet.tweettext.edit_history) == ("words", [1])


def test_missing_fields_change_nothing():
    TweetFactory(id=1, created_at=AT)
    describe([post(1, created_at=AT)])

    describe([post(1)._replace(created_at=None, author_id=None, text=None)])

    tweet = Tweet.objects.get()
    assert (tweet.created_at, tweet.author_id, tweet.tweettext.text) == (AT, 7, "words")


def test_untracked_tweets_are_not_described():
    describe([post(1, created_at=AT)])

    assert not TweetText.objects.exists()


@pytest.mark.parametrize("text", ["", "quotes ' \" \\ {a,b} NULL", "🧵 ünï\n\t", "x" * 25_000])
def test_any_text_is_stored_unchanged(text):
    TweetFactory(id=1)

    describe([post(1, text=text)])

    assert TweetText.objects.get().text == text


def test_a_nul_in_a_text_is_harmless():
    TweetFactory(id=1)

    describe([post(1, text="a\0b")])

    assert TweetText.objects.get().text == "ab"


def test_tweets_of_one_author_share_one_author_with_the_known_name():
    for id in (1, 2, 3):
        TweetFactory(id=id)

    describe([post(1), post(2)._replace(username="someone"), post(3)])

    assert Author.objects.values_list("id", "username").get() == (7, "someone")

    describe([post(1)])
    assert Author.objects.get().username == "someone"


def test_edit_histories_of_any_length_are_stored():
    TweetFactory(id=1)
    TweetFactory(id=2)

    describe([post(1)._replace(edit_history=()), post(2)._replace(edit_history=(2, 3, 2**63 - 1))])

    found = dict(TweetText.objects.values_list("tweet_id", "edit_history"))
    assert found == {1: [], 2: [2, 3, 2**63 - 1]}
