"""Second waves are happenings as soon as their hour is over, once."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import TweetFactory, figures, id_born
from trackers.happenings.models import Happening
from trackers.tweets import second_waves
from trackers.tweets.gains.models import Gain, Window
from trackers.tweets.models import Tweet
from trackers.tweets.record import Measured, record
from trackers.tweets.second_waves import note_second_waves

H, M = timedelta(hours=1), timedelta(minutes=1)
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
CALM_THEN_WAVE = (0, 1000, 1400, 1490, 1580, 2480)


def posted(*views, nth=0):
    """A tweet that had so many views after each hour, the last now; in the list of an hour."""
    born = NOW - (len(views) - 1) * H
    tweet = TweetFactory(id=id_born(born, nth), created_at=born)
    for hour, count in enumerate(views):
        counts = figures(0, views=count)
        record([Measured(tweet.pk, born + hour * H, counts, 3 * H)])
    Gain.objects.create(
        tweet_id=tweet.pk, minutes=Window.HOUR, metric="views",
        gain=views[-1] - views[-2], velocity=1, since=NOW - H, until=NOW, again_at=NOW,
    )  # fmt: skip
    return tweet


def hourly(tweet):
    return lambda at: H


def note(now=NOW):
    return note_second_waves(hourly, now=now)


def test_a_second_wave_is_noted_once():
    tweet = posted(*CALM_THEN_WAVE)

    assert note() == 1
    assert note() == 0
    assert note(NOW + 5 * M) == 0

    [wave] = Happening.objects.all()
    assert (wave.what, wave.tweet_id, wave.at) == ("second_wave", tweet.pk, NOW - H)
    assert wave.figures == {"metric": "views", "before": 90, "after": 900}


@pytest.mark.parametrize(
    "views",
    [
        pytest.param((0, 1000, 1400, 1490, 1580, 1670), id="still calm"),
        pytest.param((0, 1000, 2000, 5000), id="never calm"),
        pytest.param((0, 100, 2400), id="young"),
        pytest.param((0, 40, 44, 44, 44, 139), id="fewer than the minimum"),
    ],
)
def test_other_growth_is_none(views):
    posted(*views)

    assert note() == 0


def test_likes_say_it_where_x_shows_no_views():
    born = NOW - 5 * H
    tweet = TweetFactory(id=id_born(born), created_at=born)
    for hour, likes in enumerate((0, 100, 140, 149, 158, 248)):
        record([Measured(tweet.pk, born + hour * H, figures(likes, views=None), 3 * H)])
    Gain.objects.create(
        tweet_id=tweet.pk, minutes=Window.HOUR, metric="likes", gain=90, velocity=1, since=NOW - H,
        until=NOW, again_at=NOW,
    )  # fmt: skip

    assert note() == 1
    assert Happening.objects.get().figures["metric"] == "likes"


def test_of_many_the_steepest_are_judged_first(monkeypatch):
    monkeypatch.setattr(second_waves, "MOST_JUDGED", 1)
    posted(*CALM_THEN_WAVE, nth=1)
    steeper = posted(0, 1000, 1400, 1490, 1500, 5000, nth=2)

    assert note() == 1
    assert Happening.objects.get().tweet_id == steeper.pk
    # Then the next one has its turn.
    assert note() == 1


def test_a_wave_that_two_processes_noted_is_passed_over():
    tweet = posted(*CALM_THEN_WAVE)
    for _ in range(2):
        Happening.objects.create(
            what="second_wave", tweet_id=tweet.pk, at=NOW - H, figures={"metric": "views"}
        )

    assert note() == 0


def test_gone_tweets_are_left_out():
    tweet = posted(*CALM_THEN_WAVE)
    Tweet.objects.filter(pk=tweet.pk).update(gone_at=NOW)

    assert note() == 0


def test_statements_do_not_grow_with_the_list(django_assert_max_num_queries):
    for nth in range(12):
        posted(*CALM_THEN_WAVE, nth=nth)

    with django_assert_max_num_queries(9):
        assert note() == 12
