"""The middle half of tweets, and the ages at which they are read: pure."""

import statistics
from datetime import UTC, datetime, timedelta

import pytest

from trackers.tweets.growth.at_ages import Born, CountsAtAge
from trackers.tweets.growth.band import ages, band, counts_at, middle

H = timedelta(hours=1)
BORN = datetime(2026, 1, 1, tzinfo=UTC)


def test_quartiles_are_of_the_known_counts():
    counts = [5, None, 1, 4, 2, 3, None]
    low, median, high = statistics.quantiles([1, 2, 3, 4, 5], n=4, method="inclusive")

    found = middle(counts)

    assert (found.low, found.median, found.high, found.tweets) == (low, median, high, 5)
    assert middle([1, 2, 3, None]) is None


def test_measurements_long_before_an_age_are_left_out():
    tweets = [Born(id, BORN) for id in range(6)]
    readings = {
        one.id: [CountsAtAge(one.id, 4 * H, BORN + late * H, (one.id, None))]
        for one, late in zip(tweets, (4, 3, 2, 2, 1.9, 0), strict=True)
    }

    at = counts_at(readings, tweets)

    assert sorted(at[4 * H]) == [(0, None), (1, None), (2, None), (3, None)]
    assert band(at, 0)[4 * H].tweets == 4
    assert band(at, 1) == {}


@pytest.mark.parametrize("until", [timedelta(minutes=2), H, 7 * 24 * H])
@pytest.mark.parametrize("since", [timedelta(0), timedelta(minutes=90)])
def test_ages_rise_to_the_end_within_the_wanted_number(until, since):
    results = ages(until, count=48, since=since)

    assert results == sorted(set(results))
    assert len(results) <= 48
    assert all(age.microseconds == 0 for age in results)
    assert results[-1] == max(until, since)
