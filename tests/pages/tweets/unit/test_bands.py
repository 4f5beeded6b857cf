"""The middle half of tweets: pure."""

import statistics

from trackers.dashboards.compare.aligned import middle


def test_quartiles_are_of_the_known_counts():
    known = [5, 1, 4, 2, 3, 9, 8, 7, 6, 40, 11]
    low, median, high = statistics.quantiles(known, n=4, method="inclusive")

    quartiles = middle([None, *known, None])

    assert (quartiles.low, quartiles.median, quartiles.high) == (low, median, high)
    assert quartiles.tweets == 11


def test_of_fewer_than_ten_nothing_is_said():
    assert middle([1, 2, 3, 4, 5, 6, 7, 8, 9, None]) is None
