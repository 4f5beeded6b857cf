"""What tweets had at an age, as it is read from packed and unpacked samples."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import TweetFactory, figures
from trackers.tweets.growth.at_ages import Born, at_ages
from trackers.tweets.growth.earlier import HalfLife, half_life
from trackers.tweets.history import history
from trackers.tweets.pack import pack
from trackers.tweets.record import Measured, record
from tweetwatch.pieces import Deadline

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))
# The samples of the first tweets end in two months.
BORN = datetime(2026, 1, 31, 20, tzinfo=UTC)
NOW = BORN + 40 * D


def measured(tweet, minutes, likes):
    record([Measured(tweet.id, BORN + minutes * M, figures(likes, views=7 * likes), H)])


def naive(tweet, age):
    """The last run that begins at or before the age."""
    runs = [run for run in history(tweet.id) if run.taken_at <= BORN + age]
    return (min(runs[-1].measured_until, BORN + age), runs[-1].counts) if runs else None


@pytest.mark.parametrize("packing", [None, BORN + 2 * D, NOW], ids=["rows", "both", "arrays"])
def test_a_checkpoint_is_the_last_measurement_at_or_before_its_age(packing):
    draw = random.Random(7)
    tweets = [TweetFactory(created_at=BORN) for _ in range(4)]
    for tweet in tweets[:3]:
        likes = 0
        for minute in sorted(draw.sample(range(5, 6000), 60)):
            likes += draw.choice([0, 0, 1, 5, -1])
            measured(tweet, minute, max(0, likes))
    if packing:
        pack(now=packing, deadline=Deadline.after(600))
    ages = sorted(draw.sample(range(7000), 40))

    results = at_ages([Born(one.id, BORN) for one in tweets], [one * M for one in ages], now=NOW)

    assert results.keys() == {one.id for one in tweets}
    for tweet in tweets:
        expected = {one * M: known for one in ages if (known := naive(tweet, one * M))}
        assert {one.age: (one.measured_at, one.counts) for one in results[tweet.id]} == expected


def test_a_future_age_has_no_checkpoint_and_one_metric_can_be_selected():
    tweet = TweetFactory(created_at=BORN)
    measured(tweet, 5, 3)

    found = at_ages([Born(tweet.id, BORN)], [5 * M, H, D], now=BORN + 2 * H, metrics=("likes",))

    assert [(one.age, one.counts) for one in found[tweet.id]] == [(5 * M, (3,)), (H, (3,))]


def test_the_half_is_reached_at_the_first_measurement_of_as_many():
    tweet, late, nothing = (TweetFactory(created_at=BORN) for _ in range(3))
    for minute, likes in ((5, 1), (10, 4), (20, 5), (600, 9)):
        measured(tweet, minute, likes)
    measured(late, 600, 9)

    assert half_life(tweet.id, BORN, "likes", 9) == HalfLife(20 * M, at_most=False)
    assert half_life(late.id, BORN, "likes", 9) == HalfLife(600 * M, at_most=True)
    assert half_life(nothing.id, BORN, "likes", None) is None
