"""Medians from histograms are within what is said of them."""

import random
from collections import Counter
from statistics import median

import pytest

from trackers.rollups.classes import CLASSES, class_of, median_of


def test_a_median_is_right_within_17_percent_and_two_digits():
    draw = random.Random(3)
    for size in (50, 501, 4000):
        counts = [int(draw.lognormvariate(7, 1.5)) for _ in range(size)]

        about = median_of(Counter(map(class_of, counts)))

        assert about == pytest.approx(median(counts), rel=0.19)
        assert about == float(f"{about:.2g}")


@pytest.mark.parametrize(("counts", "about"), [([], None), ([0, 0, 0], 0), ([1], 1), ([7] * 9, 8)])
def test_few_and_equal_counts(counts, about):
    assert median_of(Counter(map(class_of, counts))) == about


def test_the_highest_count_has_a_class():
    assert class_of(0) == 0
    assert class_of(2**63 - 1) == CLASSES - 1
