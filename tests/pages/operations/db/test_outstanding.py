"""The overview's first list: what is far above usual now."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.scores.posts import post, usual_posts
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.update import score_tweets
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Tweet

H, D = timedelta(hours=1), timedelta(days=1)
AN_HOUR = AGES.index(H) + 1


@pytest.fixture
def now():
    return timezone.now()


def hit(author, *, posted, now, **counts):
    """A tweet that was measured when it was an hour old."""
    tweet = post(author, posted=posted, kind=PostKind.PHOTO, now=now, **counts)
    Tweet.objects.filter(id=tweet.id).update(measured_until=tweet.created_at + H)
    return tweet


@pytest.fixture
def author(now):
    usual_posts(7, 12, place=AN_HOUR, kind=PostKind.PHOTO, views=1000, likes=4)
    make_benchmarks([7], now=now)
    return 7


def page(staff, query=""):
    return staff.get(f"/{query}").content.decode()


def lines(content):
    return [int(piece.split('"', 1)[0]) for piece in content.split('<li id="out-')[1:]]


def test_tweets_far_above_usual_are_listed_the_highest_first(staff, author, now):
    high, higher = (
        hit(author, posted=2 * H + n * H / 9000, now=now, views=n) for n in (2500, 8400)
    )
    as_usual = hit(author, posted=5 * H, now=now, views=1100)
    old = hit(author, posted=2 * D, now=now, views=99_000)
    score_tweets([high.id, higher.id, as_usual.id, old.id], now=now)

    content = page(staff)

    assert lines(content) == [higher.id, high.id]
    assert '<span class="score far"' in content
    assert "8.4×" in content
    assert "8,400 views; at this age usually 1,000, by the author&#x27;s last 12 photos." in content
    assert lines(page(staff, "?posted=7d")) == [old.id, higher.id, high.id]
    # Four likes are too little to be far above.
    assert lines(page(staff, "?of=likes&posted=30d")) == []


def test_a_shown_score_is_of_the_newest_measurement(staff, author, now):
    tweet = hit(author, posted=2 * H, now=now, views=2500)
    score_tweets([tweet.id], now=now)
    Tweet.objects.filter(id=tweet.id).update(views=3000)

    assert "3.0×" in page(staff)


def test_without_benchmarks_it_says_what_it_takes_and_else_that_nothing_is_far_above(staff, now):
    assert "ten posts of an author" in page(staff)
    usual_posts(7, 12, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=now)

    content = page(staff)

    assert "has twice as many views as usual" in content
    assert "How it is worked out" in content


def test_a_tweet_that_is_gone_is_not_listed(staff, author, now):
    tweet = hit(author, posted=2 * H, now=now, views=2500)
    score_tweets([tweet.id], now=now)
    assert lines(page(staff)) == [tweet.id]

    Tweet.objects.filter(id=tweet.id).update(gone_at=now)

    assert lines(page(staff)) == []


@pytest.mark.parametrize("query", ["?of=bookmarks&posted=99y", "?of=&posted=", "?of=views%00"])
def test_an_unknown_choice_gets_its_default(staff, query):
    content = page(staff, query)

    assert "posted in the last" in content
