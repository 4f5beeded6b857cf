"""The list of tweets and the leaderboard by the API."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.api.db.test_tweets import pages, track
from tests.factories import TweetFactory, id_born
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.listing import search_slots
from trackers.schedule import tweet_changes
from trackers.tweets.gains.models import Gain
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag


def ids(told):
    return [[one["id"] for one in page["tweets"]] for page in told]


def test_tweets_are_listed_newest_first_in_pages(owner):
    track(*range(1, 8))

    assert ids(pages(owner, "tweets?limit=3")) == [["7", "6", "5"], ["4", "3", "2"], ["1"]]
    assert ids(pages(owner, "tweets?limit=7")) == [["7", "6", "5", "4", "3", "2", "1"]]


def test_tweets_are_filtered_by_words_state_source_and_author(owner):
    track(*range(1, 8))
    tweet_changes.pause_tweets([2, 5])
    source = Source.objects.create(kind="search", of="moon")
    now = timezone.now()
    SourceTweet.objects.bulk_create(
        SourceTweet(source=source, tweet_id=id, seen_at=now) for id in (2, 3, 6)
    )
    Author.objects.get_or_create(id=9)
    Tweet.objects.filter(pk__in=[3, 4]).update(author=9)

    def matching(query):
        return [id for page in ids(pages(owner, f"tweets?{query}")) for id in page]

    assert matching("state=paused&limit=1") == ["5", "2"]
    assert matching(f"source={source.pk}&limit=2") == ["6", "3", "2"]
    assert matching(f"source={source.pk}&state=paused") == ["2"]
    assert matching("author=9") == ["4", "3"]
    assert matching(f"author=9&source={source.pk}") == ["3"]
    assert matching("q=words&state=paused&limit=1") == ["5", "2"]
    assert matching("q=4") == ["4"]
    assert matching("q=nobody%20wrote%20this") == []


def test_the_api_has_every_filter_of_the_page(owner):
    """The page itself says what is right."""
    Author.objects.create(id=9, username="nasa", name="NASA")
    now = timezone.now()
    posted = {day: now - timedelta(days=day, hours=1) for day in range(1, 7)}
    for day, at in posted.items():
        TweetFactory(
            id=id_born(at, day), created_at=at, measured=True, likes=day, author_id=7 + day % 3
        )
        TweetText.objects.create(
            tweet_id=id_born(at, day), text=f"word{day}", lang="ja" if day % 2 else "en",
            kind=1 + day % 2, hashtags=["moon"], domains=["example.org"] if day > 4 else None,
        )  # fmt: skip
    tagging.tag_tweets(
        get_or_create_tag("Launches").pk, [id_born(posted[day], day) for day in (1, 5)]
    )
    days = [f"{posted[day]:%Y-%m-%d}" for day in (2, 4)]
    staff = Client()
    staff.force_login(owner.user)

    assert ids(pages(owner, "tweets?author=@nas")) == [[]]
    for query, count in (
        ("author=@nasa", 2), ("author=9", 2), ("author=nas", 2), ("lang=ja", 3), ("lang=JA", 3),
        ("tag=launches", 2), ("tag=nothing", 0), ("tag=launches&lang=ja&min_likes=2", 1),
        ("age=24h", 0), ("age=7d", 6), (f"since={days[1]}&until={days[0]}", 3),
        (f"since={days[0]}", 2), ("min_likes=3", 4), ("min_likes=3&lang=ja&author=9", 1),
        ("kind=quote", 3), ("kind=own", 0), ("has=link", 2), ("has=media", 0),
        ("hashtag=%23Moon", 6), ("hashtag=moo", 0), ("domain=www.example.org&kind=reply", 1),
        ("mention=@nasa", 0), ("cashtag=$twtr", 0),
        ("q=word4&min_likes=4", 1), ("min_views=1", 0), ("q=word4%20&lang=en", 1),
    ):  # fmt: skip
        listed = [id for page in ids(pages(owner, f"tweets?limit=2&{query}")) for id in page]
        page = staff.get(f"/tweets/?{query}").content.decode()
        assert listed == re.findall(r'<tr id="row-(\d+)"', page), query
        assert len(listed) == count, query
        in_file = [
            json.loads(one) for one in (owner.get(f"tweets/export?{query}") or "").splitlines()
        ]
        assert [one["tweet_id"] for one in in_file] == listed, query


@pytest.mark.parametrize(
    "query",
    [
        "lang=english", "age=2h", "since=yesterday", "since=1999-01-01", "min_likes=-1",
        "min_likes=many", f"min_likes={10**16}", "since=2026-03-02&until=2026-03-01",
        f"author={'x' * 61}", "kind=retweet", "has=poll", f"hashtag={'x' * 281}",
        "min_like=5", "sort=likes",
    ],
)  # fmt: skip
def test_an_invalid_filter_is_refused_and_not_ignored(owner, query):
    for path in ("tweets", "tweets/export"):
        owner.get(f"{path}?{query}")
        assert owner.status == 400, path


def test_a_cursor_of_other_filters_is_refused(owner):
    track(*range(1, 5))
    cursor = owner.get("tweets?limit=1&q=words")["next"]

    owner.get(f"tweets?limit=1&q=words&min_likes=1&cursor={cursor}")
    assert owner.status == 400
    assert owner.get(f"tweets?limit=2&q=words&cursor={cursor}")["tweets"][0]["id"] == "3"


def test_too_many_concurrent_searches_are_asked_to_retry_later(owner, monkeypatch):
    monkeypatch.setattr(search_slots, "MAX_WAIT_FOR_SLOT", timedelta(0))
    track(1)
    with search_slots.slots, search_slots.slots:
        for path in ("tweets?q=words", "tweets/export?state=fresh"):
            assert owner.get(path)["error"].startswith("Too many searches are running")
            assert (owner.status, owner.headers["Retry-After"]) == (503, "5")
        assert len(owner.get("tweets")["tweets"]) == 1
    assert len(owner.get("tweets?q=words")["tweets"]) == 1


@pytest.mark.parametrize(
    "query",
    ["state=odd", "limit=0", "limit=201", "source=x", "cursor=1", "q=%00", f"q={'x' * 201}"],
)
def test_an_invalid_list_is_refused(owner, query):
    owner.get(f"tweets?{query}")
    assert owner.status == 400


def test_a_page_takes_as_many_queries_for_any_number_of_tweets(
    owner, django_assert_max_num_queries
):
    track(*range(1, 60))
    # The token and when it was used, its use, the ids, the tweets, their scores.
    with django_assert_max_num_queries(6):
        assert len(owner.get("tweets?limit=50")["tweets"]) == 50


def test_the_fastest_growing_tweets_come_first(owner):
    now = timezone.now()
    for id, gain, minutes in ((1, 50, 60), (2, 40, 10), (3, 60, 60)):
        TweetFactory(id=id, measured=True)
        Gain.objects.create(
            tweet_id=id, minutes=60, metric="likes", gain=gain, velocity=gain * 60 / minutes,
            since=now - timedelta(minutes=minutes), until=now, again_at=now,
        )  # fmt: skip
    Tweet.objects.filter(pk=3).update(gone_at=now)

    def order(query):
        return [one["tweet"]["id"] for one in owner.get(f"leaderboards/tweets?{query}")["leaders"]]

    assert order("metric=likes") == ["1", "2"]
    assert order("metric=likes&by=velocity&limit=1") == ["2"]
    assert order("metric=likes&window=15m") == []
    [_, first] = owner.get("leaderboards/tweets?metric=likes")["leaders"]
    assert (first["gain"], first["velocity"]) == (40, 240.0)
    owner.get("leaderboards/tweets?metric=fame")
    assert owner.status == 400
