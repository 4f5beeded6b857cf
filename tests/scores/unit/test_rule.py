"""How far a tweet is from what is usual, as CrowdTangle worked it out."""

from datetime import timedelta

import pytest

from trackers.scores.rule import expected_at, middle_mean, never_falling, score
from trackers.tweets.checkpoints.ages import AGES

M, H, D = (timedelta(**{unit: 1}) for unit in ("minutes", "hours", "days"))
CASES = [
    # actual, expected, minimum, score
    (200, 100, 10, 2),  # twice what is usual
    (100, 100, 10, 1),
    (50, 100, 10, -2),  # half of it
    (99, 100, 10, -100 / 99),
    (0, 100, 10, -200),  # nothing of it
    (9, 2, 10, 0.9),  # 4.5 times of hardly anything
    (0, 2, 10, 0),
    (50, 2, 10, 5),
    (1_400_000, 112_000, 100, 12.5),
    (5, 10, 10, -2),  # just enough is expected
    (None, 100, 10, None),
    (5, None, 10, None),
]


@pytest.mark.parametrize(("actual", "expected", "minimum", "result"), CASES)
def test_a_score_is_how_many_times_what_is_expected(actual, expected, minimum, result):
    assert score(actual, expected, minimum) == (None if result is None else pytest.approx(result))


@pytest.mark.parametrize(
    ("counts", "mean"),
    [
        (range(9), None),
        # Of ten, two are left out at either end.
        ([0, 0, 4, 5, 6, 7, 8, 9, 900, 1000], 6.5),
        ([*range(1, 13)], 6.5),
        ([7] * 100, 7),
        ([1] * 25 + [2] * 50 + [9_000] * 25, 2),
    ],
)
def test_the_middle_mean_leaves_out_a_quarter_at_either_end(counts, mean):
    assert middle_mean(counts) == mean


def test_a_benchmark_never_falls_with_age():
    assert never_falling([None, 5, 3, None, 9, 8]) == [None, 5, 5, None, 9, 9]


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (4 * M, None),
        (H, 100),
        (2 * H, 400),
        # The square root of two is half of the way between an hour and two.
        (timedelta(hours=2**0.5), (101 * 401) ** 0.5 - 1),
        (150 * M, None),  # not known at three hours
        (30 * D, 5000),
        (400 * D, 5000),
    ],
)
def test_between_two_ages_it_is_on_a_line_of_logarithms(age, expected):
    by_age = [None] * len(AGES)
    by_age[AGES.index(H)], by_age[AGES.index(2 * H)], by_age[-1] = 100, 400, 5000

    result = expected_at(age, by_age)

    assert result == (None if expected is None else pytest.approx(expected))
