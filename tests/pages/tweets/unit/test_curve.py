"""Which holes a curve has: pure, over runs as they are kept."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from trackers.dashboards.tweets.curve import Curve, runs_to_draw
from trackers.dashboards.words import lasting, signed
from trackers.schedule.intervals import Plan, Tier
from trackers.tweets.history import Run
from trackers.tweets.series import holes

BORN = datetime(2026, 1, 1, tzinfo=UTC)
S, M, H, D = (timedelta(**{unit: 1}) for unit in ("seconds", "minutes", "hours", "days"))
PLAN = Plan((Tier(18 * M, 60 * S), Tier(H, 5 * M), Tier(D, H)))


def usual(at):
    tier = PLAN.tier(BORN, now=at)
    return tier.every if tier else None


LIKES = count()


def run(start, end=None, measurements=1, likes=None):
    """Figures that differ from those of every other run, unless they are given."""
    at = BORN + start
    likes = next(LIKES) if likes is None else likes
    return Run(1, at, BORN + end if end else at, measurements, 0, 0, likes, 0, 0, 0)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([run(M)], [], id="one run"),
        pytest.param([run(M), run(2 * M), run(3 * M)], [], id="a change at every check"),
        pytest.param([run(M), run(3 * M)], [], id="twice the interval is no gap yet"),
        pytest.param([run(M), run(3 * M + 15 * S)], [1], id="much more than twice the interval"),
        pytest.param([run(M, likes=5), run(3 * M + S, likes=5)], [1], id="kept again by record"),
        pytest.param([run(M, 9 * M, 9), run(10 * M)], [], id="after unchanged metrics"),
        pytest.param([run(M, 9 * M, 9), run(15 * M)], [1], id="a gap after unchanged metrics"),
        pytest.param([run(17 * M), run(18 * M), run(23 * M)], [], id="from one tier to the next"),
        pytest.param([run(0 * S), run(3 * M)], [1], id="a gap right at the beginning"),
        pytest.param([run(m * M) for m in (1, 2, 9, 10, 11)], [2], id="one gap of many"),
        pytest.param([run(m * M) for m in (1, 2, 3, 9, 10, 16)], [3, 5], id="two gaps"),
        pytest.param([run(d * D) for d in (40, 41, 42)], [], id="past the last tier, steady"),
        pytest.param([run(d * D) for d in (40, 41, 42, 49)], [3], id="past the last tier, a gap"),
    ],
)
def test_a_gap_in_a_curve_is_much_longer_than_the_usual_step(runs, expected):
    assert sorted(holes(runs, usual)) == expected


def test_a_later_shorter_interval_leaves_no_gaps_in_the_past():
    steady = [run(place * M) for place in range(10)]
    held = [run(0 * S, 4 * M, 5), run(5 * M, 8 * M, 4), run(9 * M, 11 * M, 3), run(12 * M)]
    broken = [*steady, *(run((20 + place) * M) for place in range(10))]

    assert holes(steady, lambda at: 10 * S) == frozenset()
    assert holes(held, lambda at: 10 * S) == frozenset()
    assert holes(broken, lambda at: 10 * S) == {10}


def test_an_interval_shortened_in_the_middle_leaves_no_gap():
    slow = [run(place * M) for place in range(7)]
    fast = [run(6 * M + place * 10 * S) for place in range(1, 7)]

    assert holes([*slow, *fast], lambda at: 10 * S) == frozenset()


def test_long_curves_are_thinned_keeping_gaps_and_ends():
    runs = [run(place * S) for place in range(10_000)]

    kept = runs_to_draw(Curve(runs, frozenset({4001})))

    assert len(kept) < 2500
    assert {0, 4000, 4001, 9999} <= set(kept)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (48 * S, "48 s"), (59.9 * S, "59 s"), (12 * M + 5 * S, "12 min"), (3 * H, "3 h"),
        (3 * H + 4 * M, "3 h 4 min"), (2 * D + 5 * H, "2 d 5 h"), (-5 * S, "0 s"),
    ],
)  # fmt: skip
def test_a_duration_is_said_in_its_largest_units(length, words):
    assert lasting(length) == words


@pytest.mark.parametrize(("number", "words"), [(1234, "+1,234"), (-5, "−5"), (0, "")])
def test_a_change_has_its_sign(number, words):
    assert signed(number) == words
