"""Which changes rank a tweet again: those that can bring it into a list in which it is not."""

import pytest

from tests.factories import TweetFactory
from tests.tweets.gains.measured import HOUR, MINUTE, NOON, gains, kept, listed, measure, noted
from trackers.tweets.gains import update
from trackers.tweets.gains.models import Changed, Gain
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db


@pytest.fixture
def full(monkeypatch):
    """Two tweets that fill each list of likes: +10 and +20 every five minutes of an hour."""
    monkeypatch.setattr(update, "MAX_LIST_LENGTH", 2)
    tweets = TweetFactory.create_batch(2)
    for minute in range(0, 61, 5):
        for place, tweet in enumerate(tweets, 1):
            measure(tweet, minute, 2 * minute * place)
    kept(60)
    kept(60)
    return tweets


def test_a_tweet_is_ranked_again_once_it_could_be_in_a_list(full):
    low = TweetFactory()
    measure(low, 55, 1_000)
    measure(low, 62, 1_001)
    kept(62)
    assert listed() == {tweet.id for tweet in full}
    enough = Tweet.objects.get(pk=low.pk).ranked_at_likes
    # Half of 120 an hour, in the seven minutes for which it is known.
    assert enough == 1_007

    measure(low, 63, enough - 1)
    assert noted() == []
    measure(low, 64, enough)

    assert noted() == [low.id]


def test_a_tweet_in_the_lists_is_ranked_when_its_time_is_over(full):
    measure(full[1], 61, 250)
    assert noted() == []

    kept(62)

    assert gains()[0] == (full[1].id, 250 - 20, 5, 61)


def test_a_tweet_that_a_full_list_dropped_is_ranked_at_its_next_change(full):
    high = TweetFactory()
    measure(high, 30, 0)
    measure(high, 61, 500)
    kept(62)
    assert listed() == {high.id, full[1].id}
    assert Tweet.objects.get(pk=full[0].pk).ranked_again_at is None

    measure(full[0], 63, 130)

    assert noted() == [full[0].id]


def test_a_tweet_whose_gain_is_over_is_ranked_at_its_next_change(full):
    measure(full[0], 119, 120)
    kept(121)
    assert listed() == set()

    # Half of the 120 an hour that the last of the lists had until then, for five minutes.
    enough = Tweet.objects.get(pk=full[0].pk).ranked_at_likes
    assert enough == 120 + 5

    measure(full[0], 122, enough)

    assert noted() == [full[0].id]


def test_a_tweet_that_left_when_an_alert_ranked_it_is_ranked_at_its_next_change(full):
    measure(full[0], 119, 120)
    Gain.objects.update(again_at=NOON)

    update.rank_named([full[0].id], now=NOON + 121 * MINUTE)

    assert full[0].id not in listed()
    measure(full[0], 122, 121)
    assert noted() == [full[0].id]


def test_a_tweet_that_is_shown_again_is_ranked(full):
    Tweet.objects.filter(pk=full[1].pk).update(gone_at=NOON + HOUR)
    kept(62)
    measure(full[1], 63, 250)

    assert noted() == [full[1].id]


def test_a_tweet_is_ranked_again_after_hours(full):
    again_at = Tweet.objects.get(pk=full[0].pk).ranked_again_at
    assert update.RANK_AGAIN_AFTER * 0.7 < again_at - NOON - HOUR <= update.RANK_AGAIN_AFTER

    measure(full[0], (again_at - NOON) / MINUTE, 121)

    assert noted() == [full[0].id]


def test_a_tweet_that_rose_while_it_was_ranked_is_noted(full, monkeypatch):
    """A save between the reading of a tweet and the writing of its next values."""
    low = TweetFactory()
    measure(low, 55, 1_000)
    measure(low, 62, 1_001)
    rank = update.rank

    def slow(ids, *lists, **options):
        ranked = rank(ids, *lists, **options)
        if Changed.objects.count() == 0 and low.id in ids and not saved:
            measure(low, 63, 2_000)
            saved.append(noted())
            Changed.objects.all().delete()
        return ranked

    saved = []

    monkeypatch.setattr(update, "rank", slow)
    kept(62)

    assert saved == [[low.id]]
    assert low.id in listed()
