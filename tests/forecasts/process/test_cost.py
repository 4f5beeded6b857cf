"""The cost of intervals beside the forecast of tomorrow, of one state."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings

from tests.factories import AppFactory, CredentialFactory, ProjectFactory, TweetFactory, id_born
from tests.large_tables import QUEUE, TWEETS, fill_what_was_drained, reading
from trackers.forecasts import cost_words
from trackers.forecasts.cost_words import ASSUMPTION, estimate, row_of_interval
from trackers.forecasts.models import ForecastDay
from trackers.forecasts.update import update_forecasts
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.models import Project
from trackers.schedule import intervals
from trackers.schedule.census import record_census
from trackers.schedule.models import Interval
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def project():
    return CredentialFactory(app=AppFactory(project=ProjectFactory(name="acme"))).app.project


def tracked(many, *, age):
    now = datetime.now(UTC)
    for place in range(many):
        born = now - age - place * MINUTE
        id = id_born(born)
        TweetFactory(
            id=id, created_at=born, tracked_at=born, measurements=1, measured_until=now,
            taken_at=now,
        )  # fmt: skip
        queue.schedule(TWEET_UPDATE, id, HOUR)
        TweetUpdate.objects.filter(key=id).update(due_at=now + place * MINUTE)


def forecast():
    """Of tomorrow, as the overview shows it."""
    ForecastDay.objects.all().delete()
    now, plan = intervals.current()
    update_forecasts(plan, now=now, gone_every=settings.GONE_EVERY)
    return ForecastDay.objects.get(day=now.astimezone(UTC).date() + DAY)


def present():
    return [row_of_interval(row) for row in Interval.objects.all()]


def test_the_cost_of_the_present_intervals_is_the_forecast_of_tomorrow(project):
    tracked(20, age=2 * HOUR)
    tracked(5, age=9 * DAY)

    tomorrow, costs = forecast(), estimate(present())

    assert tomorrow.expected_lookups > 100
    # Two moments of one second.
    assert costs.change.before.lookups == pytest.approx(tomorrow.expected_lookups, rel=0.01)
    assert costs.change.before.tweet_days == pytest.approx(tomorrow.expected_tweet_days, rel=0.01)
    assert costs.change.after == costs.change.before
    assert costs.change.times == 1


def test_the_cost_names_its_assumption_and_what_limits_allow(project):
    tracked(20, age=2 * HOUR)
    assert estimate(present()).assumption == ASSUMPTION
    Project.objects.update(posts_a_day=3)
    tomorrow = forecast()

    costs = estimate(present())

    assert costs.change.before.tweet_days > 10
    assert tomorrow.expected_tweet_days == 3
    assert costs.assumption.startswith(ASSUMPTION)
    assert "and 3 tweet-days, with the present intervals." in costs.assumption


def test_every_line_has_both_lists(project):
    tracked(20, age=9 * DAY)
    faster = [type(row)(row.younger_than, row.every / 2) for row in present()]

    lines = {line.what: (line.now, line.after) for line in estimate(faster).lines}

    assert lines["Look-ups tomorrow"] == ("20", "40")
    assert lines["Tweet-days tomorrow"] == ("20", "20")
    assert lines["Cost tomorrow"] == ("$0.10", "$0.10")
    assert lines["Cost of 30 days like it"] == ("$3.00", "$3.00")


@pytest.mark.django_db(transaction=True)
def test_an_estimate_reads_as_much_for_any_number_of_tweets(project, monkeypatch):
    """With statistics of emptied tables, by which a planner would walk over them."""
    monkeypatch.setattr(cost_words, "SAMPLE_FOR_COST", {"exactly": 1000, "drawn": 1000})
    fill_what_was_drained(60_000, payers=[project.pk, None])
    # A cluster counts these for all.
    now, plan = intervals.current()
    record_census(plan, now=now)

    with reading() as read:
        costs = estimate(present())

    assert costs.change.before.lookups > 60_000
    assert read.walked == {TWEETS: 0, QUEUE: 0}
    assert read.found[QUEUE] <= 2000
    assert read.found[TWEETS] <= 2000
