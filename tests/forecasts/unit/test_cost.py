"""What a list of intervals asks of tomorrow, for the tweets that are known and those to come."""

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from trackers.forecasts.cost import Cost, CostChange, cost, lookups_of_life
from trackers.forecasts.day import Known, foresee
from trackers.forecasts.newcomers import Arrivals
from trackers.forecasts.walk import Cell, interval_rows
from trackers.schedule.adapt import Bounds
from trackers.schedule.census import CENSUS_AGES
from trackers.schedule.intervals import Plan, Tier

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
HOUR_S, DAY_S = 3600.0, 86400.0
HALF_A_DAY = 12 * HOUR_S
FREE: dict[int | None, Decimal] = {None: Decimal("0.005")}
NOBODY = Arrivals(0.0, {})
SEVERAL = Plan((Tier(HOUR, MINUTE), Tier(DAY, HOUR), Tier(30 * DAY, 2 * DAY)))


def fixed(every, *, below=30 * DAY):
    return Plan((Tier(below, every),))


def asked(plan, cells, *, now=None, arrivals=NOBODY, prices=FREE, ages=None):
    """`now`: the plan by which these are scheduled."""
    known = Known(cells, interval_rows(now or plan), arrivals)
    return cost(plan, known, prices, to_midnight=HALF_A_DAY, ages=ages)


def test_an_unchanged_list_costs_what_the_forecast_of_tomorrow_says():
    """Where nothing limits it, both pages show one number."""
    cells = [Cell(30, 2 * DAY_S, 0.1, 3 * HOUR_S), Cell(5, 9 * DAY_S, 0.1, 20 * HOUR_S, payer=1)]
    known = Known(
        cells,
        interval_rows(fixed(4 * HOUR)),
        Arrivals(10 / DAY_S, {0: 1.0}),
        left={1: (None, None)},
        lookups_correction=1.1,
    )
    _, tomorrow = foresee(known, to_midnight=HALF_A_DAY)

    found = cost(fixed(4 * HOUR), known, {1: Decimal(1)}, to_midnight=HALF_A_DAY)

    assert (found.lookups, found.tweet_days) == (tomorrow.lookups, tomorrow.tweet_days)
    assert found.money == round(tomorrow.tweet_days)


def test_new_tweets_are_part_of_the_cost():
    alone = asked(fixed(HOUR), [Cell(10, DAY_S, 0.1, 60)])
    with_new = asked(fixed(HOUR), [Cell(10, DAY_S, 0.1, 60)], arrivals=Arrivals(1e-3, {0: 1.0}))

    assert (alone.lookups, alone.tweet_days) == (240, 10)
    # Those of half of today, and of tomorrow.
    assert with_new.tweet_days == pytest.approx(10 + 1.5 * DAY_S * 1e-3)
    assert with_new.lookups > 240 + 24 * 1e-3 * HALF_A_DAY


def test_other_intervals_cost_as_if_all_were_planned_by_them():
    """What waits two days is not late for an hour's interval."""
    cells = [Cell(1, 9 * DAY_S, 0.1, 40 * HOUR_S)]

    found = asked(fixed(HOUR), cells, now=fixed(2 * DAY))

    assert (found.lookups, found.tweet_days) == (24, 1)


def test_tweets_that_would_be_woken_are_part_of_the_cost():
    ages = [0] * (len(CENSUS_AGES) - 1)
    ages[[since for since, _ in pairwise(CENSUS_AGES)].index(30 * DAY)] = 600

    assert asked(fixed(DAY), [], ages=ages).lookups == 0
    woken = asked(fixed(DAY, below=45 * DAY), [], now=fixed(DAY), ages=ages)
    assert (woken.lookups, woken.tweet_days) == (300, 300)


def test_each_project_pays_its_own_price():
    cells = [Cell(100, 2 * DAY_S, 0.1, 60, payer=1), Cell(10, 2 * DAY_S, 0.1, 60, payer=2)]
    prices = {1: Decimal("0.005"), 2: Decimal("0.01"), None: Decimal("0.01")}

    assert asked(fixed(HOUR), cells, prices=prices).money == Decimal("0.6")
    assert asked(fixed(HOUR), cells).money == Decimal("0.55")


def test_look_ups_of_a_life_are_those_of_one_tweet():
    assert lookups_of_life(interval_rows(SEVERAL)) == pytest.approx(60 + 23 + 14.5)


def test_slower_intervals_have_fewer_look_ups_in_a_life():
    def life(accuracy):
        tier = Tier(30 * DAY, DAY, bounds=Bounds(accuracy, 60, 4 * DAY_S))
        return lookups_of_life(interval_rows(Plan((tier,))))

    # By the bench of cadences some 85 look-ups in 30 days.
    assert 20 < life(0.05) < 200
    assert life(0.1) < 0.7 * life(0.05)


def test_the_largest_growth_decides_whether_a_change_is_large():
    old = Cost(10, 100, 50, Decimal(0))

    assert not CostChange(old, old).is_large
    twice = CostChange(old, Cost(10, 100, 100, Decimal(0)))
    assert (twice.times, twice.is_large) == (2, False)
    more = CostChange(old, Cost(10, 210, 50, Decimal(0)))
    assert (more.times, more.is_large) == (pytest.approx(2.1), True)
    assert CostChange(Cost(10, 0, 0, Decimal(0)), old).times == 1
