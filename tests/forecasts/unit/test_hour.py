"""The checks of the next hour: each tweet's next one, and all those that follow it."""

import pytest

from trackers.forecasts.day import Known
from trackers.forecasts.hour import MINUTES_AHEAD, foresee_minutes
from trackers.forecasts.newcomers import Arrivals
from trackers.forecasts.walk import Cell, IntervalRow

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
QUARTERLY = [IntervalRow(30 * DAY, 15 * MINUTE, None)]
NOBODY = Arrivals(0.0, {})


def foreseen(known, *, second=0.0):
    """Checks of known tweets, and of new ones."""
    minutes = foresee_minutes(known, second=second, to_midnight=12 * HOUR)
    assert len(minutes) == MINUTES_AHEAD
    return [one for one, _ in minutes[:60]], [one for _, one in minutes[:60]]


def places(minutes):
    return {place: count for place, count in enumerate(minutes) if count}


def test_a_tweet_is_counted_each_time_that_it_is_checked():
    known, new = foreseen(Known([Cell(3, HOUR, 0.1, 10 * MINUTE)], QUARTERLY, NOBODY))

    assert places(known) == {10: 3, 25: 3, 40: 3, 55: 3}
    assert sum(new) == 0


def test_minutes_are_those_of_the_clock():
    known, _ = foreseen(Known([Cell(1, HOUR, 0.1, 30)], QUARTERLY, NOBODY), second=40.0)

    assert places(known) == {1: 1, 16: 1, 31: 1, 46: 1}


def test_tweets_that_are_due_later_or_rest_soon_are_not_counted():
    cells = [Cell(1, HOUR, 0.1, 2 * HOUR), Cell(1, 30 * DAY - 20 * MINUTE, 0.1, 0)]

    known, _ = foreseen(Known(cells, QUARTERLY, NOBODY))

    assert places(known) == {0: 1, 15: 1}


def test_new_tweets_are_checked_when_they_come_and_again():
    """One a minute: after 15 minutes those of the first are checked again, and so on."""
    _, new = foreseen(Known([], QUARTERLY, Arrivals(1 / MINUTE, {0: 1.0})))

    assert new[0] == pytest.approx(1)
    assert new == sorted(new)
    # Of 60 tweets, 60, 45, 30 and 15 are checked once, twice, three and four times at least.
    assert sum(new) == pytest.approx(60 + 45 + 30 + 15, rel=0.05)


def test_checks_that_exceed_the_windows_are_made_afterwards():
    cells = [Cell(100, HOUR, 0.1, 0)]

    known, _ = foreseen(Known(cells, [IntervalRow(DAY, HOUR, None)], NOBODY, room=0.5))

    assert places(known) == {0: 30, 1: 30, 2: 30, 3: 10}
