"""The ages, and what a tweet had between two measurements."""

from datetime import timedelta
from itertools import pairwise

import pytest

from trackers.tweets.checkpoints.ages import AGES, count_between, is_enclosed, place_of

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))


def test_there_are_eighteen_never_far_apart():
    assert (len(AGES), AGES[0], AGES[-1]) == (18, 5 * M, 30 * D)
    assert max(later / earlier for earlier, later in pairwise(AGES)) < 2.4


@pytest.mark.parametrize(
    ("age", "place"), [(0 * M, 0), (5 * M, 1), (6 * M, 1), (D, 13), (30 * D, 18), (900 * D, 18)]
)
def test_an_age_has_the_place_of_the_highest_that_is_not_above_it(age, place):
    assert place_of(age) == place


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (59 * M, 61 * M, True),
        (30 * M, 120 * M, True),
        (29 * M, 61 * M, False),  # the earlier one is too early
        (59 * M, 121 * M, False),  # the later one is too late
        (59 * M, 60 * M, True),  # measured at the age itself
        (60 * M, 61 * M, False),  # by the measurement before
        (10 * M, 20 * M, False),
    ],
)
def test_measurements_enclose_an_age_if_both_are_near(before, after, expected):
    assert is_enclosed(H, before=before, after=after) is expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(100, 200, 125), (200, 100, 175), (0, 1, 0), (0, 3, 1), (None, 3, None), (3, None, None)],
)
def test_between_two_measurements_a_count_is_on_a_straight_line(low, high, expected):
    assert count_between(H, before=(45 * M, low), after=(105 * M, high)) == expected
