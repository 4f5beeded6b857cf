"""What a day will bring: the rule walked ahead, new tweets, and what money and windows allow."""

import random

import pytest

from trackers.forecasts import walk as walking
from trackers.forecasts.day import Known, foresee
from trackers.forecasts.newcomers import AGE_STEPS, Arrivals, age_step, curve
from trackers.forecasts.update import MAX_CORRECTION, MIN_CORRECTION, correction
from trackers.forecasts.walk import Cell, IntervalRow, cooled, wait_at, walk, walk_gone
from trackers.schedule.adapt import Bounds

HOUR, DAY = 3600.0, 86400.0
FIXED = [IntervalRow(DAY, HOUR, None), IntervalRow(3 * DAY, 6 * HOUR, None)]
ADAPTS = [
    IntervalRow(DAY, 0, Bounds(0.05, 60, 3 * HOUR)),
    IntervalRow(30 * DAY, 0, Bounds(0.05, 900, 4 * DAY)),
]
# They come as young as can be.
NOBODY, TEN_A_DAY = Arrivals(0.0, {}), Arrivals(10 / DAY, {0: 1})


def test_look_ups_of_fixed_rows_are_counted_exactly():
    assert walk(Cell(1, 0, 1, 0), FIXED, [DAY, 2 * DAY]) == [24, 4]
    assert walk(Cell(1, 0, 1, HOUR), FIXED, [DAY, 2 * DAY]) == [23, 4]
    assert walk(Cell(1, 2.5 * DAY, 1, HOUR), FIXED, [DAY, 2 * DAY]) == [2, 0], "then it rests"
    assert walk(Cell(1, 4 * DAY, 1, 0), FIXED, [DAY]) == [0]
    assert walk(Cell(1, 0, 1, 3 * DAY), FIXED, [DAY]) == [0]


def one_by_one(cell, rows, end):
    lookups, at = 0, cell.due
    while at < end:
        age = cell.age + at
        row = next((row for row in rows if age < row.below), None)
        if row is None:
            break
        lookups += 1
        at += wait_at(age, cooled(cell.growth, cell.age, age), row, 1.0)
    return lookups


def test_look_ups_counted_in_bulk_equal_those_counted_singly():
    chance = random.Random(7)
    busy = [IntervalRow(30 * DAY, 0, Bounds(0.002, 1, DAY))]
    for rows in (ADAPTS, busy):
        for _ in range(40):
            cell = Cell(
                1, 10 ** chance.uniform(0, 6), 10 ** chance.uniform(-2, 0.5), chance.random() * HOUR
            )
            assert walk(cell, rows, [DAY])[0] == pytest.approx(
                one_by_one(cell, rows, DAY), rel=0.03, abs=1
            )


def test_the_count_is_quick_even_with_a_look_up_each_second(monkeypatch):
    steps = []
    monkeypatch.setattr(walking, "wait_at", lambda *given: steps.append(given) or wait_at(*given))

    [lookups] = walk(Cell(1, 0, 5, 0), [IntervalRow(DAY, 0, Bounds(0.001, 1, 1))], [DAY])

    assert lookups == pytest.approx(DAY, abs=2)
    assert len(steps) < 2000


def test_a_new_tweet_day_begins_later_when_money_is_short():
    cell = Cell(1, 10 * DAY, 0.1, HOUR)
    ends = [DAY * day for day in range(1, 15)]

    usual = sum(map(bool, walk(cell, ADAPTS, ends)))
    stretched = sum(map(bool, walk(cell, ADAPTS, ends, day_stretch=4.0)))

    assert 1 < stretched < usual


def test_a_gone_tweet_has_its_own_interval():
    assert walk_gone(Cell(1, 5, 0, HOUR, is_gone=True), 6 * HOUR, [DAY, 2 * DAY]) == [4, 4]


def test_a_tweet_costs_each_tweet_day_once_and_today_only_if_unpaid():
    cells = [
        Cell(3, HOUR, 0.1, 0, payer=1),
        Cell(2, HOUR, 0.1, 0, payer=1, is_paid=True),
        Cell(1, HOUR, 0.1, 0, is_gone=True),
    ]

    rest, tomorrow = foresee(Known(cells, FIXED, NOBODY, gone_every=DAY), to_midnight=HOUR / 2)

    assert (rest.lookups, rest.tweet_days) == (6, 3)
    assert tomorrow.tweet_days == 5


def test_money_of_each_project_goes_to_its_youngest_tweets_first():
    cells = [Cell(10, 2 * HOUR, 0.1, 0, payer=1), Cell(10, 2 * DAY, 0.1, 0, payer=2)]
    left = {1: (12.0, 40.0), 2: (3.0, 40.0)}

    rest, tomorrow = foresee(Known(cells, FIXED, NOBODY, left=left), to_midnight=HOUR)

    assert rest.tweet_days == 15
    assert rest.projects == {1: 10, 2: 3}
    # Of the old, five were paid for: one look-up each, and one each of the young.
    assert rest.lookups == 15
    assert tomorrow.projects == {1: 10, 2: 10}


def test_tweets_without_a_payer_go_to_projects_without_a_budget():
    cells = [Cell(10, 2 * HOUR, 0.1, 0), Cell(4, 2 * HOUR, 0.1, 0, payer=2)]
    left = {1: (None, None), 2: (50.0, 50.0), 3: (None, None)}

    rest, _ = foresee(Known(cells, FIXED, NOBODY, left=left), to_midnight=HOUR)
    limited, _ = foresee(
        Known(cells, FIXED, NOBODY, left={2: (50.0, 50.0), 3: (50.0, 50.0)}), to_midnight=HOUR
    )

    assert rest.projects == {1: 5, 2: 4, 3: 5}
    assert limited.projects == {2: 9, 3: 5}


def test_tweet_days_beyond_the_budgets_are_known_too():
    cells = [Cell(10, 2 * HOUR, 0.1, 0), Cell(4, 2 * HOUR, 0.1, 0, payer=2)]
    arrivals = Arrivals(7 / DAY, {0: 1})

    _, tomorrow = foresee(
        Known(cells, FIXED, arrivals, left={2: (3.0, 3.0)}, room=0.0001), to_midnight=HOUR
    )
    _, without = foresee(Known(cells, FIXED, arrivals, left={2: (None, None)}), to_midnight=HOUR)

    assert tomorrow.projects == {2: 3}
    assert tomorrow.unlimited == without.unlimited == without.projects
    assert tomorrow.unlimited[2] > 14


def test_no_tweet_waits_without_a_budget():
    cells = [Cell(10, 2 * HOUR, 0.1, 0, payer=1)]

    rest, _ = foresee(Known(cells, FIXED, NOBODY, left={1: (None, None)}), to_midnight=HOUR)

    assert rest.projects == {1: 10}


def test_windows_limit_the_look_ups():
    known = Known([Cell(1000, HOUR, 0.1, 0)], FIXED, NOBODY, room=0.01)

    rest, _ = foresee(known, to_midnight=10 * HOUR)

    assert rest.lookups == pytest.approx(360)


def test_new_tweets_are_looked_up_from_their_arrival_on():
    rest, tomorrow = foresee(Known([], FIXED, TEN_A_DAY), to_midnight=DAY)

    assert rest.newcomers == tomorrow.newcomers == pytest.approx(10)
    # Every hour for half a day on average.
    assert rest.new_lookups == pytest.approx(125, rel=0.03)
    assert (rest.tweet_days, tomorrow.tweet_days) == (pytest.approx(10), pytest.approx(20))
    # Those of today every hour and then every six, those of tomorrow as today.
    assert tomorrow.new_lookups == pytest.approx(125 + 120 + 20, rel=0.03)


def test_new_tweets_are_looked_up_as_often_as_others_of_their_age():
    quick = [Cell(500, age, 2.0, 60) for age in AGE_STEPS[1:40]]
    quiet = [Cell(500, age, 0.01, 60) for age in AGE_STEPS[1:40]]
    lookups = [curve(cells, ADAPTS, stretch=1).at(DAY) for cells in (quick, [], quiet)]

    assert lookups == sorted(lookups, reverse=True)
    assert lookups[-1] > 25, "even the quietest are looked at every quarter of their age"
    assert curve(quick, ADAPTS, stretch=2).at(DAY) < lookups[0]
    one = [Cell(1, 0.7 * DAY, 0.01, 60)]
    assert curve(one, ADAPTS, stretch=1).at(DAY) < lookups[1], "a neighbour says more than nobody"


def test_ages_have_the_same_steps_as_in_sql():
    assert [age_step(age) for age in (0, 0.5, 1, 1.5, 2, 100)] == [0, 0, 1, 2, 3, 14]


def test_corrections_stay_within_bounds():
    assert correction([]) == 1
    assert correction([(0, 0), (0, 5)]) == 1
    assert correction([(100, 90), (100, 100)]) == 0.95
    assert correction([(100, 1)]) == MIN_CORRECTION
    assert correction([(1, 100)]) == MAX_CORRECTION


def test_the_correction_does_not_lift_a_day_over_its_budget():
    cells = [Cell(10, 2 * HOUR, 0.1, 0, payer=1)]
    known = Known(
        cells, FIXED, NOBODY, left={1: (8.0, 8.0)}, days_correction=1.5, lookups_correction=1.5
    )

    rest, _ = foresee(known, to_midnight=HOUR)

    assert rest.tweet_days == 8
