"""Rates and gains per day, and what is drawn of very many runs: pure."""

from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from trackers.dashboards.tweets.curve import Curve, runs_to_draw
from trackers.dashboards.tweets.growth import daily_steps, hourly_steps
from trackers.tweets.history import Run
from tweetwatch import notation
from tweetwatch.notation import Notation

BORN = datetime(2026, 1, 1, 22, tzinfo=UTC)
M, H = timedelta(minutes=1), timedelta(hours=1)


def run(start, likes, end=None):
    return Run(1, BORN + start, BORN + (end or start), 1, 0, 0, likes, 0, None, 7 * (likes or 0))


def likes(steps):
    return [step.per_hour("likes") for step in steps]


def test_a_rate_is_the_hourly_gain_between_two_measurements():
    runs = [run(0 * H, 0), run(H, 10), run(3 * H, 10, 5 * H), run(6 * H, 4)]

    found = hourly_steps(runs, frozenset())

    assert likes(found) == [10, 0, 0, -6]
    assert [step.per_hour("bookmarks") for step in found] == [None] * 4


def test_a_gap_in_a_curve_has_no_rate():
    runs = [run(0 * H, 0), run(H, 10), run(9 * H, 90), run(10 * H, 95)]

    found = hourly_steps(runs, frozenset({2}))

    assert [(step.since - BORN, step.until - BORN) for step in found] == [
        (0 * H, H),
        (9 * H, 10 * H),
    ]
    assert hourly_steps([], frozenset()) == hourly_steps([run(H, 1)], frozenset()) == []


def test_steps_of_seconds_are_joined_to_smooth_rates():
    runs = [run(place * M / 10, place) for place in range(101)]

    found = hourly_steps(runs, frozenset())

    assert {step.until - step.since for step in found} == {2 * M}
    assert likes(found) == pytest.approx([600] * 5)


def test_the_gain_of_a_day_is_from_its_beginning_to_its_end():
    runs = [run(H, 5), run(3 * H, 8), run(20 * H, 20), run(30 * H, 21)]

    found = daily_steps(runs, frozenset(), born=BORN)

    # Posted at 22:00: two hours of the first day, which begins with nothing.
    assert [step.gained["likes"] for step in found] == [5, 15, 1]
    assert daily_steps(runs, frozenset(), born=BORN - 48 * H)[0].gained["likes"] == 0
    assert daily_steps([], frozenset(), born=BORN) == []


def test_a_partly_measured_day_says_so():
    runs = [run(H, 5), run(20 * H, 20), run(30 * H, 21), run(31 * H, 22)]

    found = daily_steps(runs, frozenset({1}), born=BORN)

    assert [step.gap for step in found] == [True, True, False]
    assert [step.gained["likes"] for step in found] == [5, 15, 2]


def test_a_fall_is_drawn_even_with_few_points():
    runs = [run(place * M, place) for place in range(5000)]
    runs[3333] = run(3333 * M, 17)

    kept = runs_to_draw(Curve(runs, frozenset()), 200)

    assert {0, 3332, 3333, 4999} <= set(kept)
    assert len(kept) <= 210


def test_days_are_those_of_the_reader():
    """Posted at 22:00 UTC, which is 3:45 in Kathmandu and 18:30 in St John's."""
    runs = [run(H, 5), run(3 * H, 8), run(20 * H, 20), run(21 * H, 21), run(30 * H, 22)]

    def days_in(zone):
        def read():
            notation.use(Notation(ZoneInfo(zone)))
            return [step.gained["likes"] for step in daily_steps(runs, frozenset(), born=BORN)]

        return copy_context().run(read)

    assert days_in("UTC") == [5, 16, 1]
    assert days_in("Asia/Kathmandu") == [20, 2]
    assert days_in("America/St_Johns") == [8, 13, 1]
