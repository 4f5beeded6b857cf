"""The scores of tweets: shown from the newest measurement, kept to sort by."""

import random
from datetime import timedelta

import pytest

from tests.scores.posts import NOW, post, usual_posts
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.models import BenchmarkAuthor, Score
from trackers.scores.read import scores_of
from trackers.scores.rule import expected_at, score
from trackers.scores.update import score_tweets, update_scores
from trackers.tweets.checkpoints.ages import AGES, AGES_S
from trackers.tweets.checkpoints.models import CrossedAges
from trackers.tweets.gains.models import Gain, Window
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Tweet, TweetText
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))
AN_HOUR = AGES.index(H) + 1


def of_views(tweet):
    return scores_of([tweet.id])[tweet.id].get("views")


def test_python_and_sql_agree_on_what_is_expected_and_on_scores():
    draw = random.Random(3)
    with cursor() as db:
        for _ in range(300):
            by_age = [draw.choice([None, draw.uniform(0, 1e6)]) for _ in AGES]
            age_s = draw.choice([*AGES_S, draw.uniform(300, 4e6)])
            actual, minimum = draw.choice([None, 0, 5, 10, 10_000]), draw.choice([10.0, 100.0])
            place = max(n for n, age in enumerate(AGES_S, 1) if age <= age_s)
            params = {
                "age": age_s, "from_age": AGES_S[place - 1],
                "to_age": AGES_S[place] if place < len(AGES) else None,
                "from": by_age[place - 1], "to": by_age[place] if place < len(AGES) else None,
            }  # fmt: skip
            [expected] = db.execute(
                "SELECT trackers_expected_v1(%(age)s, %(from_age)s, %(to_age)s, %(from)s, %(to)s)",
                params,
            ).fetchone()
            [scored] = db.execute(
                "SELECT trackers_score_v1(%s, %s, %s)", [actual, expected, minimum]
            ).fetchone()

            plain = expected_at(timedelta(seconds=age_s), by_age)
            assert expected == (None if plain is None else pytest.approx(plain, rel=1e-9))
            plain = score(actual, expected, minimum)
            assert scored == (None if plain is None else pytest.approx(plain, rel=1e-9))


def test_a_tweet_is_compared_with_posts_of_its_kind_or_else_with_all():
    usual_posts(7, 12, place=AN_HOUR, kind=PostKind.PHOTO, views=1000, likes=5)
    usual_posts(7, 3, place=AN_HOUR, kind=PostKind.TEXT, first=90 * D, views=10)
    make_benchmarks([7], now=NOW)
    photo = post(7, posted=H, kind=PostKind.PHOTO, views=2500, likes=9)
    words = post(7, posted=H - M / 2, kind=PostKind.TEXT, views=500)
    Tweet.objects.filter(id=words.id).update(measured_until=words.created_at + H)

    one = of_views(photo)
    assert (one.actual, one.expected, one.posts, one.kind) == (2500, 1000, 12, PostKind.PHOTO)
    assert one.score == pytest.approx(2.5)
    other = of_views(words)
    assert (other.posts, other.kind, other.missing) == (15, None, 0)
    assert other.score == pytest.approx(-2)
    # Five likes are too little to be divided by.
    assert scores_of([photo.id])[photo.id]["likes"].score == pytest.approx(0.9)


def test_where_too_few_posts_say_what_is_usual_it_says_how_many_are_missing():
    usual_posts(7, 3, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=NOW)

    one = of_views(post(7, posted=H, views=2500))
    stranger = of_views(post(8, posted=H, views=2500))

    assert (one.score, one.expected, one.posts, one.missing) == (None, None, 3, 7)
    assert (stranger.score, stranger.posts, stranger.missing) == (None, 0, 10)


def test_the_age_is_that_of_the_newest_measurement():
    """However long ago it was: nothing is invented after an outage."""
    usual_posts(7, 10, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=NOW)
    tweet = post(7, posted=10 * H, views=3000)
    Tweet.objects.filter(id=tweet.id).update(measured_until=tweet.created_at + H)

    assert of_views(tweet).score == pytest.approx(3)


def test_retweets_and_gone_tweets_have_none_and_neither_has_a_newborn():
    usual_posts(7, 10, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=NOW)
    retweet = post(7, posted=H, kind=None, views=9)
    gone = post(7, posted=H + M, views=9)
    Tweet.objects.filter(id=gone.id).update(gone_at=NOW)
    newborn = post(7, posted=4 * M, views=9)

    assert scores_of([retweet.id, gone.id, newborn.id]) == {
        retweet.id: {}, gone.id: {}, newborn.id: {},
    }  # fmt: skip


def crossed(*tweets):
    CrossedAges.objects.create(ids=[one.id for one in tweets], ages=[AN_HOUR] * len(tweets))


def update(now=NOW):
    return update_scores(now=now, deadline=Deadline.after(60))


def test_a_minute_scores_those_that_crossed_an_age():
    usual_posts(7, 12, place=AN_HOUR, views=1000, likes=100)
    tweet = post(7, posted=H, views=2500, likes=50)
    other = post(8, posted=H, views=2500)
    crossed(tweet, other)

    assert update().rows == 2 + 2

    row = Score.objects.get()
    assert (row.tweet_id, row.views, row.expected_views) == (tweet.id, 2.5, 1000)
    assert (row.likes, row.retweets) == (-2, None)
    assert not CrossedAges.objects.exists()
    assert BenchmarkAuthor.objects.filter(due_at=None).count() == 2
    assert update().rows == 0


def test_tweets_far_from_usual_and_moving_ones_are_scored_each_minute():
    usual_posts(7, 12, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=NOW)
    out, slow, moving = (post(7, posted=H + n * M / 9, views=2500 - n * 1000) for n in range(3))
    for one in (out, slow, moving):
        Tweet.objects.filter(id=one.id).update(measured_until=one.created_at + H)
    score_tweets([out.id, slow.id, moving.id], now=NOW)
    Gain.objects.create(
        tweet_id=moving.id, minutes=Window.QUARTER, metric="views", gain=9, velocity=9,
        since=NOW, until=NOW, again_at=NOW,
    )  # fmt: skip
    Tweet.objects.update(views=9000)

    update()

    views = dict(Score.objects.values_list("tweet_id", "views"))
    assert views == {out.id: 9, slow.id: 1.5, moving.id: 9}


def test_a_tweet_that_is_gone_has_no_score():
    usual_posts(7, 12, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=NOW)
    tweet = post(7, posted=H, views=2500)
    score_tweets([tweet.id], now=NOW)
    Tweet.objects.filter(id=tweet.id).update(gone_at=NOW)
    TweetText.objects.filter(tweet=tweet).delete()

    update()

    assert not Score.objects.exists()


def test_scores_are_kept_to_sort_by_until_the_last_age_has_passed():
    usual_posts(7, 12, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=NOW)
    tweets = [post(7, posted=days * D, views=9) for days in (30, 32)]
    for tweet in tweets:
        Tweet.objects.filter(id=tweet.id).update(measured_until=tweet.created_at + H)
    score_tweets([tweet.id for tweet in tweets], now=NOW)

    update()

    assert Score.objects.get().tweet_id == tweets[0].id
