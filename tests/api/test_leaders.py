"""The list of tweets and the leaderboard by the API."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.api.test_tweets import pages, track
from tests.factories import TweetFactory
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.schedule import steer
from trackers.tweets.models import Author, Tweet
from trackers.tweets.movers.models import Mover

pytestmark = pytest.mark.django_db


def ids(told):
    return [[one["id"] for one in page["tweets"]] for page in told]


def test_they_are_listed_newest_first_in_pages(owner):
    track(*range(1, 8))

    assert ids(pages(owner, "tweets?limit=3")) == [["7", "6", "5"], ["4", "3", "2"], ["1"]]
    assert ids(pages(owner, "tweets?limit=7")) == [["7", "6", "5", "4", "3", "2", "1"]]


def test_they_are_narrowed_by_words_state_source_and_author(owner):
    track(*range(1, 8))
    steer.pause([2, 5])
    source = Source.objects.create(kind="search", of="moon")
    now = timezone.now()
    SourceTweet.objects.bulk_create(
        SourceTweet(source=source, tweet_id=id, seen_at=now) for id in (2, 3, 6)
    )
    Author.objects.get_or_create(id=9)
    Tweet.objects.filter(pk__in=[3, 4]).update(author=9)

    def found(query):
        return [id for page in ids(pages(owner, f"tweets?{query}")) for id in page]

    assert found("state=paused&limit=1") == ["5", "2"]
    assert found(f"source={source.pk}&limit=2") == ["6", "3", "2"]
    assert found(f"source={source.pk}&state=paused") == ["2"]
    assert found("author=9") == ["4", "3"]
    assert found(f"author=9&source={source.pk}") == ["3"]
    assert found("q=words&state=paused&limit=1") == ["5", "2"]
    assert found("q=4") == ["4"]
    assert found("q=nobody%20wrote%20this") == []


@pytest.mark.parametrize(
    "query",
    ["state=odd", "limit=0", "limit=201", "source=x", "cursor=1", "q=%00", f"q={'x' * 201}"],
)
def test_a_list_that_makes_no_sense_is_refused(owner, query):
    owner.get(f"tweets?{query}")
    assert owner.status == 400


def test_a_page_costs_the_same_however_many_tweets_it_has(owner, django_assert_max_num_queries):
    track(*range(1, 60))
    # The token and when it was used, its use, the ids, the tweets.
    with django_assert_max_num_queries(5):
        assert len(owner.get("tweets?limit=50")["tweets"]) == 50


def test_what_grows_fastest_comes_first(owner):
    now = timezone.now()
    for id, gain, minutes in ((1, 50, 60), (2, 40, 10), (3, 60, 60)):
        TweetFactory(id=id, measured=True)
        Mover.objects.create(
            tweet_id=id, minutes=60, metric="likes", gain=gain, velocity=gain * 60 / minutes,
            since=now - timedelta(minutes=minutes), until=now, again_at=now,
        )  # fmt: skip
    Tweet.objects.filter(pk=3).update(gone_at=now)

    def order(query):
        return [one["tweet"]["id"] for one in owner.get(f"tweets/leaderboard?{query}")["leaders"]]

    assert order("metric=likes") == ["2", "1"]
    assert order("metric=likes&by=gain&limit=1") == ["1"]
    assert order("metric=likes&window=15m") == []
    [first, _] = owner.get("tweets/leaderboard?metric=likes")["leaders"]
    assert (first["gain"], first["velocity"]) == (40, 240.0)
    owner.get("tweets/leaderboard?metric=fame")
    assert owner.status == 400
