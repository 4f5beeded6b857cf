"""The projection and its past error: pure, over tweets as they might have grown."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.tweets.growth.projection import PastTweet, past_errors, project

H = timedelta(hours=1)
START = datetime(2026, 1, 1, tzinfo=UTC)


def pasts(*grown, every=30 * H):
    """Tweets of (early, late), posted one after the other."""
    return [PastTweet(START + place * every, *one) for place, one in enumerate(grown)]


def test_tweets_that_all_doubled_project_the_double_without_error():
    projection = project(150, pasts(*[(100, 200)] * 17), age=H)

    assert (projection.total, projection.low, projection.high) == (300, 300, 300)
    assert (projection.tweets, projection.tested) == (17, 7)
    assert (projection.usual_error, projection.large_error) == (0, 0)


def test_the_range_is_the_middle_half_of_the_factors():
    found = project(100, pasts(*[(100, 100 * factor) for factor in (1, 2, 3, 4, 5)] * 3), age=H)

    assert (found.low, found.total, found.high) == (200, 300, 400)


@pytest.mark.parametrize(
    ("count", "grown"),
    [
        pytest.param(None, [(100, 200)] * 20, id="unknown"),
        pytest.param(0, [(100, 200)] * 20, id="nothing to multiply"),
        pytest.param(10, [(100, 200)] * 12, id="too few to test it on"),
        pytest.param(10, [(0, 200)] * 20, id="earlier ones that had nothing yet"),
    ],
)
def test_too_few_tweets_give_no_projection(count, grown):
    assert project(count, pasts(*grown), age=H) is None


def test_the_error_uses_only_what_was_known_at_that_time():
    # The eleventh is projected from ten that doubled: 200, and it came to have 400.
    grown = pasts(*[(100, 200)] * 10, (100, 400))

    assert past_errors(grown, age=H) == [0.5]


def test_tweets_not_a_day_old_then_are_not_used_for_the_error():
    # 25 within two and a half hours: each is projected before any other has had its day.
    crowd = pasts(*[(100, 200)] * 25, every=timedelta(minutes=6))

    assert past_errors(crowd, age=H) == []
    assert project(100, crowd, age=H) is None
    # At an age of 23 h those of more than an hour earlier were a day old.
    assert len(past_errors(crowd, age=23 * H)) == 6
