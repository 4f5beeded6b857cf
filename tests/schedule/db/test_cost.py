"""What a list of intervals costs, and how the census counts tweets by age."""

from datetime import timedelta
from itertools import pairwise

import pytest

from tests.factories import TweetFactory, id_born
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.census import count_bounded
from trackers.schedule.cost import CENSUS_AGES, CostChange, Rate, cost
from trackers.schedule.cost_words import lines_of
from trackers.schedule.intervals import Plan, Tier, current
from trackers.schedule.population import rate_of, rates
from trackers.schedule.stretch.solve import Group
from trackers.schedule.validate import IntervalRow

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def tweets(**given):
    """So many tweets from the age that is named, as `d7`, to the next."""
    units = {"m": MINUTE, "h": HOUR, "d": DAY}
    places = {units[name[0]] * int(name[1:]): many for name, many in given.items()}
    return [places.get(since, 0) for since, _ in pairwise(CENSUS_AGES)]


ROWS = [IntervalRow(HOUR, MINUTE), IntervalRow(DAY, HOUR), IntervalRow(30 * DAY, 2 * DAY)]


def test_ages_of_the_census_increase_from_zero():
    assert list(CENSUS_AGES) == sorted(set(CENSUS_AGES))
    assert CENSUS_AGES[0] == timedelta(0)


@pytest.mark.parametrize(
    ("ages", "lookups", "tweet_days"),
    [
        pytest.param({}, 0, 0, id="no tweets"),
        pytest.param({"m30": 10}, 10 * 1440, 10, id="each minute, billed once a day"),
        pytest.param({"h8": 10}, 240, 10, id="each hour"),
        pytest.param({"d7": 10}, 5, 5, id="every other day"),
        pytest.param({"d30": 10}, 0, 0, id="past the list"),
        pytest.param({"m30": 1, "h8": 1, "d7": 2}, 1440 + 24 + 1, 3, id="all together"),
    ],
)
def test_the_cost_of_a_day_of_todays_tweets_is_computed(ages, lookups, tweet_days):
    found = cost(ROWS, tweets(**ages))

    assert found.lookups == pytest.approx(lookups)
    assert found.tweet_days == pytest.approx(tweet_days)


def test_an_interval_bound_within_a_census_age_takes_its_share():
    found = cost([IntervalRow(45 * MINUTE, MINUTE)], tweets(m30=10))

    assert found.lookups == pytest.approx(5 * 1440)


def test_the_cost_of_a_life_is_that_of_one_tweet():
    assert cost(ROWS, None).life == pytest.approx(60 + 23 + 14.5)
    assert cost([*ROWS, IntervalRow(60 * DAY, DAY, enabled=False)], None).life == pytest.approx(
        97.5
    )
    assert cost(ROWS, None).lookups is None


def test_the_largest_growth_decides_whether_a_change_is_large():
    old, ages = cost(ROWS, tweets(d7=100)), tweets(d7=100)

    assert not CostChange(old, old).is_large
    daily = cost([*ROWS[:2], IntervalRow(30 * DAY, DAY)], ages)
    assert (CostChange(old, daily).times, CostChange(old, daily).is_large) == (
        pytest.approx(2),
        False,
    )
    twice = cost([*ROWS[:2], IntervalRow(30 * DAY, DAY / 2)], ages)
    assert CostChange(old, twice).times == pytest.approx(4)
    assert CostChange(old, twice).is_large


def test_the_census_counts_tweets_by_age_without_resting_ones():
    now, _ = current()
    for age in (timedelta(seconds=30), 3 * MINUTE, 3 * MINUTE, 40 * DAY):
        TweetFactory(id=id_born(now - age, TweetFactory._meta.model.objects.count()))
    TweetFactory(id=id_born(now + MINUTE, 9))

    counts = count_bounded(Plan(()), now=now).ages

    told = {
        since: many for (since, _), many in zip(pairwise(CENSUS_AGES), counts, strict=True) if many
    }
    assert told == {timedelta(0): 2, 2 * MINUTE: 2, 30 * DAY: 1}
    TweetFactory._meta.model.objects.update(paused=True)
    assert sum(count_bounded(Plan(()), now=now).ages) == 0


ADAPTS = IntervalRow(30 * DAY, DAY, accuracy=0.05, at_most=MINUTE, at_least=4 * DAY)


def test_the_cost_of_an_adapting_row_is_that_of_todays_tweets():
    rate = Rate(lookups=6, days=0.5, error=0.1, days_error=0.02)

    found = cost([ADAPTS], tweets(d7=10), {30 * DAY: rate})

    assert (found.lookups, found.tweet_days) == (60, 5)
    assert (found.error, found.days_error) == (pytest.approx(0.1), pytest.approx(0.02))


def test_every_number_from_a_sample_has_a_margin():
    rate = Rate(lookups=600, days=0.5, error=0.1, days_error=0.02)
    found = cost([ADAPTS], tweets(d7=100_000), {30 * DAY: rate})

    lines = {line.what: line.after for line in lines_of(CostChange(found, found))}

    assert lines["Look-ups a day"] == "60,000,000 ± 10%"
    assert lines["Requests to X a day"] == "600,000 ± 10%"
    assert lines["Tweet-days a day"] == "50,000 ± 2%"
    assert lines["Cost a day, at $0.005 a tweet-day"] == "$250.00 ± 2%"
    assert lines["Cost in 30 days, at $0.005 a tweet-day"] == "$7,500.00 ± 2%"


def test_without_tweets_an_adapting_row_costs_as_for_typical_tweets():
    estimate = cost([ADAPTS], None)

    # By the bench of cadences some 85 look-ups in 30 days.
    assert 20 < estimate.life < 200
    assert estimate.error == 0


def test_slower_intervals_cost_less():
    slow = IntervalRow(30 * DAY, DAY, accuracy=0.1, at_most=MINUTE, at_least=4 * DAY)

    assert cost([slow], None).life < 0.7 * cost([ADAPTS], None).life


def test_the_rate_of_a_sample_has_an_error():
    now, _ = current()
    bounds = Bounds(0.05, 60, 4 * 86400)
    for place in range(40):
        born = now - 2 * DAY - place * timedelta(milliseconds=5)
        TweetFactory(
            id=id_born(born),
            created_at=born,
            measurements=1,
            measured_until=now,
            taken_at=now,
            pace=[0.06, 0.6][place % 2] / 86400,
        )

    [rate] = rates(Plan((Tier(30 * DAY, DAY, bounds=bounds),)), now=now).values()

    quiet, lively = (86400 / adapted_wait(2 * 86400, each / 86400, bounds) for each in (0.06, 0.6))
    assert rate.lookups == pytest.approx((quiet + lively) / 2, rel=0.2)
    assert 0.05 < rate.error < 0.5
    assert rate.days_error == 0, "all of them are looked at each day"


def test_tweet_days_have_a_margin_of_their_own():
    """The lively are looked at each day, and the quiet every fourth."""
    bounds, age = Bounds(0.05, 60, 4 * 86400), 20 * 86400

    rate = rate_of([Group(50, age, pace, bounds) for pace in (0.0, 1 / 86400)])

    assert rate.days == pytest.approx((1 + 1 / 4) / 2)
    assert 0 < rate.days_error < rate.error
