"""When next, where an interval adapts: the rule, its bounds, the stretches, and SQL."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.stretch.solve import (
    MAX_STRETCH,
    MAX_WINDOW_FILL,
    Group,
    lookups_due,
    needed_stretch,
)
from tweetwatch.database import cursor

MINUTE, HOUR, DAY = 60, 3600, 86400
HOURLY = Bounds(0.05, MINUTE, 3 * HOUR)


@pytest.mark.parametrize(
    ("age", "pace", "stretch", "expected"),
    [
        # Nothing moves: a quarter of the age, up to *at least every*.
        (2 * HOUR, 0, 1, HOUR / 2),
        (20 * HOUR, 0, 1, 3 * HOUR),
        # A fifth in an hour, beside an allowance of a tenth in an hour.
        (2 * HOUR, 0.2 / HOUR, 1, HOUR * 0.05 / 0.3),
        (2 * HOUR, 1.0, 1, MINUTE),
        (2 * HOUR, 0, 2, HOUR),
        # At least every: three times as long at most.
        (20 * HOUR, 0, 1.5, 4.5 * HOUR),
        (20 * HOUR * 9, 0, 100, 9 * HOUR),
        # Before its birth, by clocks that differ.
        (-60, 0, 1, MINUTE),
        (0, 0, 1, MINUTE),
    ],
)
def test_adapted_waits_follow_age_pace_and_stretch(age, pace, stretch, expected):
    assert adapted_wait(age, pace, HOURLY, stretch) == pytest.approx(expected)


FINITE = st.floats(min_value=0, max_value=1e6)
STRETCHES = st.floats(min_value=1, max_value=1000)


@given(st.floats(min_value=-300, max_value=40 * DAY), FINITE, STRETCHES)
def test_a_wait_stays_within_its_bounds(age, pace, stretch):
    wait = adapted_wait(age, pace, HOURLY, stretch)

    assert HOURLY.at_most <= wait <= HOURLY.at_least * min(stretch, 3)


@given(st.floats(min_value=0, max_value=40 * DAY), FINITE, FINITE, STRETCHES, STRETCHES)
def test_waits_grow_with_the_stretch_and_fall_with_the_pace(age, slow, fast, short, long):
    slow, fast = sorted((slow, fast))
    short, long = sorted((short, long))

    assert adapted_wait(age, fast, HOURLY, short) <= adapted_wait(age, slow, HOURLY, short)
    assert adapted_wait(age, slow, HOURLY, short) <= adapted_wait(age, slow, HOURLY, long)


@given(st.floats(min_value=0.001, max_value=0.5), st.floats(min_value=0.001, max_value=0.5))
def test_waits_grow_with_the_accuracy(one, other):
    low, high = sorted((one, other))

    assert adapted_wait(DAY, 1e-5, HOURLY._replace(accuracy=low)) <= adapted_wait(
        DAY, 1e-5, HOURLY._replace(accuracy=high)
    )


@pytest.mark.django_db
def test_sql_and_rule_agree():
    chance = random.Random(18)
    cases = [
        (
            chance.choice([-5.0, 0.0, 1.0, math.exp(chance.uniform(0, 15))]),
            chance.choice([0.0, math.exp(chance.uniform(-20, 2))]),
            Bounds(chance.uniform(0.001, 0.5), chance.uniform(1, 900), chance.uniform(900, 1e6)),
            chance.choice([1.0, chance.uniform(1, 5), 1000.0]),
        )
        for _ in range(10_000)
    ]
    rows = [[a, p, *b, s] for a, p, b, s in cases]
    with cursor() as db:
        from_database = db.execute(
            f"""SELECT trackers_adapted_wait_v1(age, pace, acc, most, least, s)
                FROM unnest({", ".join(["%s::float8[]"] * 6)}) WITH ORDINALITY
                    AS a(age, pace, acc, most, least, s, n) ORDER BY n""",
            [list(column) for column in zip(*rows, strict=True)],
        ).fetchall()

    assert [row[0] for row in from_database] == [pytest.approx(adapted_wait(*one)) for one in cases]


# ---------------------------------------------------------------- not enough room

FLEET = [
    Group(1000, HOUR, 0.5 / HOUR, HOURLY),
    Group(50_000, 10 * DAY, 0.01 / DAY, Bounds(0.05, 15 * MINUTE, 4 * DAY)),
    Group(100, 60, 0, None, every=60),
]


def test_with_enough_windows_waits_are_not_stretched():
    assert needed_stretch(FLEET, room=10 * lookups_due(FLEET, 1), backlog=0) == 1


@pytest.mark.parametrize("share", [0.9, 0.6])
def test_the_stretch_just_fills_the_windows(share):
    room = share * lookups_due(FLEET, 1)

    stretch = needed_stretch(FLEET, room=room, backlog=0)

    assert lookups_due(FLEET, stretch) <= MAX_WINDOW_FILL * room
    assert lookups_due(FLEET, stretch / 1.01) > MAX_WINDOW_FILL * room


def test_bounds_can_make_every_stretch_insufficient():
    assert needed_stretch(FLEET, room=1, backlog=0) == MAX_STRETCH


def test_an_import_takes_at_most_half_of_the_windows():
    room = 2 * lookups_due(FLEET, 1)

    assert needed_stretch(FLEET, room=room, backlog=10**9) == needed_stretch(
        FLEET, room=room * (MAX_WINDOW_FILL - 0.5) / MAX_WINDOW_FILL, backlog=0
    )


def test_without_tweets_there_is_no_stretch():
    assert needed_stretch([], room=100, backlog=0) == 1
