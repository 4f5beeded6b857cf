"""The list of tweets, sorted by how far they are above usual."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.pages.conftest import flat
from tests.scores.posts import post, usual_posts
from trackers.listing import sorts
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.update import score_tweets
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Tweet

H, D = timedelta(hours=1), timedelta(days=1)
AN_HOUR = AGES.index(H) + 1


@pytest.fixture
def tweets():
    """Three of an author for whom 1,000 views are usual after an hour, and one of a stranger."""
    now = timezone.now()
    usual_posts(7, 12, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=now)
    views = (2500, 8400, 900)
    made = [post(7, posted=2 * H + n * H, now=now, views=count) for n, count in enumerate(views)]
    made.append(post(8, posted=6 * H, now=now, views=99_000))
    for tweet in made:
        Tweet.objects.filter(id=tweet.id).update(measured_until=tweet.created_at + H)
    score_tweets([tweet.id for tweet in made], now=now)
    return made


def listed(content):
    return [int(piece.split('"', 1)[0]) for piece in content.split('<tr id="row-')[1:]]


def test_few_tweets_are_all_sorted_those_without_a_score_last(staff, tweets):
    higher, high = tweets[1], tweets[0]

    content = flat(staff.get("/tweets/?sort=score-views&age=24h"))

    assert listed(content) == [higher.id, high.id, tweets[2].id, tweets[3].id]
    assert "Views ÷ usual" in content
    assert "8.4×" in content
    assert "usually 1,000" in content


def test_of_many_those_that_stand_out_are_listed_and_a_note_says_so(staff, tweets, monkeypatch):
    monkeypatch.setattr(sorts, "MAX_SORTED", 2)

    content = flat(staff.get("/tweets/?sort=score-views&age=24h"))

    assert listed(content) == [tweets[1].id, tweets[0].id]
    assert "at least twice what is usual" in content


def test_an_unknown_score_is_newest_first(staff, tweets):
    content = flat(staff.get("/tweets/?sort=score-quotes&age=24h"))

    assert listed(content) == sorted((tweet.id for tweet in tweets), reverse=True)
