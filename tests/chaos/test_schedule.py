"""The schedule of faults is a pure function of its seed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tests.chaos.faults import kinds
from tests.chaos.schedule import schedule


def made(seed, seconds=180.0):
    return schedule(seed, seconds=seconds, kinds=kinds(clocks=True), hosts=3, lease=6.0)


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another():
    assert made(7) == made(7)
    assert made(7) != made(8)


@pytest.mark.parametrize(("seconds", "times"), [(30, 1), (60, 1), (180, 3), (600, 10)])
def test_every_kind_happens_once_a_minute_and_once_at_the_least(seconds, times):
    counts = Counter(fault.kind for fault in made(7, seconds))

    assert counts == dict.fromkeys(kinds(clocks=True), times)


def test_in_a_lane_one_fault_is_over_before_the_next_begins():
    for lane in {kind.lane for kind in kinds(clocks=True)}:
        faults = [fault for fault in made(7) if fault.kind.lane == lane]
        for one, after in pairwise(faults):
            assert one.at + one.seconds <= after.at
