"""Scores and engagement rates in lists, their filters, and the API."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.api.conftest import Program
from tests.pages.conftest import flat
from tests.scores.posts import post, usual_posts
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.update import score_tweets
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Tweet

H = timedelta(hours=1)
AN_HOUR = AGES.index(H) + 1


@pytest.fixture
def tweets():
    """Three of an author for whom 1,000 views and 20 likes are usual after an hour: far above,
    usual, far below; and one of a stranger."""
    now = timezone.now()
    usual_posts(7, 12, place=AN_HOUR, views=1000, likes=20)
    make_benchmarks([7], now=now)
    counts = ((8400, 420), (1000, 3), (250, 1))
    made = [
        post(
            7, posted=2 * H + n * H, now=now, views=views, likes=likes,
            retweets=0, replies=0, quotes=0, bookmarks=0,
        )
        for n, (views, likes) in enumerate(counts)
    ]  # fmt: skip
    made.append(post(8, posted=6 * H, now=now, views=99_000))
    for tweet in made:
        Tweet.objects.filter(id=tweet.id).update(measured_until=tweet.created_at + H)
    score_tweets([tweet.id for tweet in made], now=now)
    return made


def listed(content):
    return [int(piece.split('"', 1)[0]) for piece in content.split('<tr id="row-')[1:]]


def cells(content):
    """The score's cell of each row, without its marks."""
    return [
        piece.split('data-label="Score"', 1)[1].split("</td>", 1)[0]
        for piece in content.split('<tr id="row-')[1:]
    ]


def test_each_row_has_a_score_with_what_is_usual(staff, tweets):
    far, usual, below, stranger = cells(flat(staff.get("/tweets/?age=24h")))

    assert "8.4×" in far
    assert "usually 1,000" in far
    assert "as usual" in usual
    assert "−4.0×" in below
    assert stranger.endswith("–")
    assert "0 of the 10 posts" in stranger


def test_likes_are_compared_where_x_shows_no_views(staff, tweets):
    Tweet.objects.filter(pk=tweets[0].pk).update(views=None)

    first, *_ = cells(flat(staff.get("/tweets/?age=24h")))

    assert "21.0×" in first
    assert "likes usually 20" in first


def test_the_column_may_be_left_out(staff, tweets):
    content = flat(staff.get("/tweets/?age=24h&columns=views"))

    assert 'data-label="Score"' not in content


def test_the_heading_sorts_by_the_score(staff, tweets):
    content = flat(staff.get("/tweets/?age=24h"))

    assert '<a class="sort" href="/tweets/?age=24h&amp;sort=score-views">Score' in content


@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ("min_score=2", [0]), ("min_score=1", [0, 1]), ("min_score=0.5", [0, 1]),
        ("min_engagement=5", [0]), ("min_engagement=0.3", [0, 1, 2]),
        ("min_engagement=0.35", [0, 2]), ("min_score=nonsense", [0, 1, 2, 3]),
        ("min_score=2&min_engagement=6", []),
    ],
)  # fmt: skip
def test_filters_by_score_and_engagement(staff, tweets, asked, places):
    wanted = [tweets[place].pk for place in places]

    assert listed(flat(staff.get(f"/tweets/?age=24h&{asked}"))) == wanted


def test_the_form_keeps_the_filters(staff, tweets):
    content = flat(staff.get("/tweets/?min_score=2.5&min_engagement=3"))

    assert 'name="min_score" value="2.5"' in content
    assert 'name="min_engagement" value="3.0"' in content


def test_the_api_has_scores_and_sorts_by_them(staff, tweets):
    owner = Program(staff, User.objects.get(username="ada"))

    page = owner.get("tweets?sort=score&age=24h&limit=2")
    rest = owner.get(f"tweets?sort=score&age=24h&limit=2&cursor={page['next']}")

    ids = [int(one["id"]) for one in page["tweets"] + rest["tweets"]]
    assert ids == [tweets[place].pk for place in (0, 1, 2, 3)]
    assert rest["next"] is None
    first, last = page["tweets"][0], rest["tweets"][-1]
    assert first["engagement_rate"] == 0.05
    assert first["scores"]["views"] == {
        "score": 8.4, "expected": 1000.0, "posts": 12, "kind": "text"
    }  # fmt: skip
    assert last["engagement_rate"] is None
    assert last["scores"]["views"] == {"score": None, "expected": None, "posts": 0, "kind": None}


def test_the_api_sorts_by_the_score_of_another_metric(staff, tweets):
    owner = Program(staff, User.objects.get(username="ada"))

    page = owner.get("tweets?sort=score&metric=likes&min_score=0.1&age=24h")

    assert [int(one["id"]) for one in page["tweets"]] == [tweets[0].pk, tweets[1].pk]


def test_a_filter_that_is_no_number_is_refused(staff, tweets):
    owner = Program(staff, User.objects.get(username="ada"))

    assert owner.raw("tweets?min_score=much").status_code == 400
    assert owner.raw("tweets?min_score=0").status_code == 400
    assert owner.raw("tweets?sort=likes").status_code == 400
