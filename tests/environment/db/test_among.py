"""The lookup `among` finds what `in` finds, with one parameter for all ids."""

import pytest
from django.db.models import Q

from tests.factories import TweetFactory
from trackers.ingest.sources.models import SourceTweet
from trackers.tweets.models import Tweet, TweetText


@pytest.fixture
def ids():
    return sorted(TweetFactory().pk for _ in range(3))


@pytest.mark.parametrize("chosen", [[], [0], [0, 2], [0, 1, 2]])
def test_among_finds_the_same_rows_as_in(ids, chosen):
    wanted = [*(ids[place] for place in chosen), 12345]

    found = Tweet.objects.filter(id__among=wanted)
    others = Tweet.objects.filter(~Q(id__among=wanted))

    assert set(found) == set(Tweet.objects.filter(pk__in=wanted))
    assert set(others) == set(Tweet.objects.exclude(pk__in=wanted))


def test_among_no_ids_finds_nothing(ids):
    assert not Tweet.objects.filter(id__among=[]).exists()


def test_among_sends_all_ids_as_one_parameter(ids):
    _, given = Tweet.objects.filter(id__among=range(10_000)).query.sql_with_params()

    assert len(given) == 1


def test_among_a_foreign_key_takes_no_join(ids):
    TweetText.objects.create(tweet_id=ids[0], text="words")

    found = TweetText.objects.filter(tweet__id__among=ids)

    assert [one.pk for one in found] == ids[:1]
    assert "JOIN" not in str(found.query)
    assert list(SourceTweet.objects.filter(tweet_id__among=ids)) == []
