"""The schedule of faults is a pure function of its seed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tests.chaos.faults import kinds
from tests.chaos.schedule import schedule


def made(seed, seconds=600.0):
    every = kinds(clocks=True, seconds=seconds)
    return schedule(seed, seconds=seconds, kinds=every, hosts=3, lease=6.0)


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another():
    assert made(7) == made(7)
    assert made(7) != made(8)


@pytest.mark.parametrize(("seconds", "times"), [(30, 1), (60, 1), (180, 3), (600, 10)])
def test_every_kind_happens_once_a_minute_and_once_at_the_least(seconds, times):
    counts = Counter(fault.kind for fault in made(7, seconds))

    every = kinds(clocks=True, seconds=seconds)
    assert counts == {kind: 1 if kind.once else times for kind in every}


def test_what_lasts_a_minute_happens_in_long_runs_alone():
    once = {fault.kind.name for fault in made(7) if fault.kind.once}

    assert once == {"a full disk", "a missing column", "failover to the standby"}
    assert not any(fault.kind.once for fault in made(7, seconds=180))


def test_in_a_lane_one_fault_is_over_before_the_next_begins():
    for lane in {kind.lane for kind in kinds(clocks=True, seconds=600)}:
        faults = [fault for fault in made(7) if fault.kind.lane == lane]
        for one, after in pairwise(faults):
            assert one.at + one.seconds <= after.at
