"""Where X's windows or the budgets are too small, adapting waits are stretched; re-planning follows
the rule."""

from datetime import timedelta
from itertools import pairwise

import pytest

from tests.factories import (
    AppFactory,
    CredentialFactory,
    IntervalFactory,
    ProjectFactory,
    TweetFactory,
    id_born,
)
from trackers.credentials.models import Window
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import intervals
from trackers.schedule.adapt import Bounds, adapted_wait
from trackers.schedule.census import record_census
from trackers.schedule.intervals import Plan, Tier
from trackers.schedule.models import Interval, Stretch, TweetCensus
from trackers.schedule.population import PLACES, chosen_places, groups
from trackers.schedule.replan import continue_replanning, replan
from trackers.schedule.stretch.update import update_stretch
from trackers.tweets.pace import strangers_pace
from trackers.updater.models import TweetUpdate

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
MONTH = Bounds(0.05, 60, 4 * 86400)
PLAN = Plan((Tier(HOUR, SECOND * 60), Tier(30 * DAY, DAY, bounds=MONTH)))


def tracked(many, *, age, pace=None, now):
    for place in range(many):
        born = now - age - place * timedelta(milliseconds=10)
        id = id_born(born)
        TweetFactory(
            id=id, created_at=born, measurements=1, measured_until=now, taken_at=now, pace=pace
        )
        queue.schedule(TWEET_UPDATE, id, HOUR)


def room_for(lookups, now):
    """A window of X with this many look-ups, of a hundred tweets each, in a quarter of an hour."""
    credential = CredentialFactory()
    Window.objects.create(
        app=credential.app,
        endpoint="GET /2/tweets",
        limit=lookups,
        remaining=lookups,
        resets_at=now + HOUR,
    )


def test_groups_cover_all_tweets_by_age_and_pace():
    now, _ = intervals.current()
    tracked(30, age=2 * DAY, pace=0.6 / DAY.total_seconds(), now=now)
    tracked(20, age=20 * DAY, now=now)

    results = groups(PLAN, [7, 100], now=now)

    assert results[0].tweets == 7
    assert results[0].every == 60
    adapting = {round(group.age / 86400): group for group in results[1:]}
    assert {age: group.tweets for age, group in adapting.items()} == {2: 60, 20: 40}
    assert adapting[2].pace == pytest.approx(0.6 / 86400, rel=0.2)
    # So little that only the allowance counts.
    assert adapting[20].pace <= 0.011 / (20 * 86400)


def test_the_sample_size_does_not_depend_on_the_number_of_tweets():
    now, _ = intervals.current()

    places = list(chosen_places(PLAN, now=now))

    assert len(places) <= PLACES
    assert all(before[2] == after[1] for before, after in pairwise(places))


def test_waits_are_stretched_when_windows_are_short():
    now, _ = intervals.current()
    # Lively, and far more than a request a quarter of an hour can carry.
    tracked(200, age=2 * HOUR, pace=1 / 3600, now=now)
    room_for(1, now)
    record_census(PLAN, now=now)

    row = update_stretch(PLAN, now=now)

    assert row.demand == pytest.approx(200 / adapted_wait(7200, 1 / 3600, MONTH), rel=0.3)
    assert row.room == pytest.approx(100 / 900)
    assert row.windows > 1.5
    assert intervals.current()[1].stretch == row.windows


@pytest.mark.parametrize("windows", ["unknown", "wide"])
def test_waits_are_not_stretched_without_need(windows):
    now, _ = intervals.current()
    tracked(20, age=2 * HOUR, pace=1 / 3600, now=now)
    if windows == "wide":
        room_for(1000, now)
    record_census(PLAN, now=now)

    assert update_stretch(PLAN, now=now).windows == 1


def test_fixed_rows_are_never_stretched():
    now, _ = intervals.current()
    tracked(20, age=2 * HOUR, now=now)
    room_for(1, now)
    record_census(Plan((Tier(30 * DAY, SECOND),)), now=now)

    assert update_stretch(Plan((Tier(30 * DAY, SECOND),)), now=now).windows == 1


def with_budget(posts):
    CredentialFactory(app=AppFactory(project=ProjectFactory(name="ours", posts_a_day=posts)))


def test_waits_are_stretched_when_budgets_are_short():
    now, _ = intervals.current()
    tracked(200, age=5 * DAY, pace=0, now=now)
    with_budget(50)
    record_census(PLAN, now=now)

    row = update_stretch(PLAN, now=now)

    # A quarter of its age.
    assert row.days_demand == pytest.approx(200 / 1.25, rel=0.1)
    assert (row.days_room, row.budget) == (50, "ours: tweet-days a UTC day")
    assert row.windows == 1
    assert 2 < row.money < 10
    assert intervals.current()[1].day_stretch == row.money


def test_new_tweets_raise_the_stretch_for_money():
    now, _ = intervals.current()
    tracked(100, age=5 * DAY, pace=0.3 / DAY.total_seconds(), now=now)
    with_budget(60)
    record_census(PLAN, now=now)
    without = update_stretch(PLAN, now=now).money

    tracked(20, age=2 * HOUR, pace=1 / 3600, now=now)
    TweetCensus.objects.all().delete()
    record_census(PLAN, now=now)

    assert update_stretch(PLAN, now=now).money > without


@pytest.mark.parametrize("budget", [None, 100_000])
def test_with_enough_money_no_tweet_day_is_postponed(budget):
    now, _ = intervals.current()
    tracked(20, age=5 * DAY, now=now)
    with_budget(budget)
    record_census(PLAN, now=now)

    row = update_stretch(PLAN, now=now)

    assert (row.money, row.days_room) == (1, budget)
    assert intervals.current()[1].day_stretch == 1


def test_fixed_rows_never_postpone_a_tweet_day():
    now, _ = intervals.current()
    tracked(20, age=5 * DAY, now=now)
    with_budget(1)
    fixed = Plan((Tier(30 * DAY, HOUR),))
    record_census(fixed, now=now)

    assert update_stretch(fixed, now=now).money == 1


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "-1"])
def test_replanning_follows_the_rule(bad):
    now, _ = intervals.current()
    Interval.objects.all().delete()
    IntervalFactory(
        younger_than=30 * DAY,
        every=DAY,
        jitter=0,
        accuracy=0.05,
        at_most=60 * SECOND,
        at_least=4 * DAY,
    )
    Stretch.objects.create(pk=1, windows=2.0)
    paces = {1: 1e-6, 2: None, 3: float(bad)}
    for id, pace in paces.items():
        TweetFactory(
            id=id,
            created_at=now - 10 * DAY,
            measurements=1,
            measured_until=now,
            taken_at=now,
            pace=pace,
        )
        queue.schedule(TWEET_UPDATE, id, DAY)

    replan()
    continue_replanning(1)

    age = 10 * 86400.0
    for job in TweetUpdate.objects.all():
        known = paces[job.key] if job.key == 1 else strangers_pace(age)
        wait = adapted_wait(age, known, MONTH, 2.0)
        assert wait - 1 <= (job.due_at - now).total_seconds() <= wait + 60


def test_replanning_postpones_tweet_days_when_money_is_short():
    now, _ = intervals.current()
    Interval.objects.all().delete()
    adapts = {"accuracy": 0.05, "at_most": 60 * SECOND, "at_least": 4 * DAY}
    IntervalFactory(younger_than=30 * DAY, every=DAY, jitter=0, **adapts)
    Stretch.objects.create(pk=1, money=2.5)
    measured = now.replace(hour=13, minute=0, second=0) - DAY
    for id in range(1, 11):
        TweetFactory(
            id=id,
            created_at=measured - 10 * DAY,
            measurements=1,
            measured_until=measured,
            taken_at=measured,
            pace=0,
        )
        queue.schedule(TWEET_UPDATE, id, DAY)

    replan()
    continue_replanning(1)

    # 2.5 days: so little of it is left that the day is closed first, which is over now.
    wait = adapted_wait(10 * 86400.0, 0, MONTH)
    due = {job.due_at for job in TweetUpdate.objects.all()}
    assert wait == 2.5 * 86400
    assert {round((at - measured) / DAY, 2) for at in due} == {6.25}
