"""What is kept of a day: so far, expected, and yesterday's forecast beside the actual figures."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django_q.models import Schedule

from tests.factories import AppFactory, CredentialFactory, ProjectFactory, TweetFactory, id_born
from tests.flows.conftest import wait_until
from tests.large_tables import QUEUE, TWEETS, fill_what_was_drained, reading
from tests.schedule.process.test_replan_pieces import is_waited_for
from trackers.credentials.models import Credential, Window
from trackers.credentials.sentences import NONE_YET
from trackers.forecasts import population as sampling
from trackers.forecasts import update as keeping
from trackers.forecasts.inputs import NO_WINDOWS, PAUSED
from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.forecasts.stored import NOT_YET, stored_forecast
from trackers.forecasts.update import MAX_CORRECTION, prune_forecasts, update_forecasts
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.jobs.observed.models import QueueCounters
from trackers.money.models import Spending
from trackers.schedule import intervals
from trackers.schedule.adapt import Bounds
from trackers.schedule.intervals import Plan, Tier
from trackers.tasks import forecast_days
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
PLAN = Plan((Tier(30 * DAY, 6 * HOUR),))
NOON = datetime(2026, 6, 10, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 6, 11, 0, 0, 30, tzinfo=UTC)
TODAY = NOON.date()


def run(at=NOON, plan=PLAN):
    update_forecasts(plan, now=at, gone_every=DAY)
    return ForecastDay.objects.get(day=at.date())


def tracked(many, *, age=5 * DAY, at=NOON, due=HOUR, came=None, **fields):
    for place in range(many):
        born = at - age - place * timedelta(milliseconds=10)
        id = id_born(born)
        measured = {"measurements": 1, "measured_until": at, "taken_at": at}
        TweetFactory(
            id=id, created_at=born, tracked_at=came or at - 3 * DAY, **{**measured, **fields}
        )
        queue.schedule(TWEET_UPDATE, id, HOUR)
        TweetUpdate.objects.filter(key=id).update(due_at=at + due)


def asked(many, at):
    QueueCounters.objects.create(queue=TWEET_UPDATE, minute=at, host="h", pid=1, asked=many)


def room(credential):
    Window.objects.create(
        app=credential.app,
        endpoint="GET /2/tweets",
        limit=900,
        remaining=900,
        resets_at=datetime.now(UTC) + HOUR,
    )
    return credential


@pytest.fixture
def credential():
    return room(CredentialFactory(app=AppFactory(project=ProjectFactory(name="acme"))))


def test_today_is_the_past_look_ups_plus_those_of_the_rule_until_midnight(credential):
    tracked(10)
    asked(400, NOON - HOUR)
    asked(7, NOON - 13 * HOUR)
    Spending.objects.create(project=credential.app.project, day=TODAY, posts=40, posts_reserved=2)

    row = run()

    assert (row.lookups, row.tweet_days) == (400, 42)
    # At 13 and 19 o'clock.
    assert row.expected_lookups == 420
    assert row.expected_tweet_days == 52
    assert row.why == ""
    tomorrow = ForecastDay.objects.get(day=TODAY + DAY)
    assert (tomorrow.expected_lookups, tomorrow.expected_tweet_days) == (40, 10)
    [project] = ForecastOfProject.objects.filter(day=TODAY)
    assert (project.tweet_days, project.expected) == (42, 52)


def test_tweet_days_paid_today_cost_nothing_more(credential):
    tracked(4, paid_on=TODAY, paid_by=credential.app.project_id)
    tracked(3, age=6 * DAY, gone_at=NOON - DAY)

    row = run()

    assert row.expected_tweet_days == 0
    assert row.expected_lookups == 2 * 4 + 3


def test_the_forecast_of_an_adapting_tweet_follows_its_pace(credential):
    bounds = Bounds(0.05, 60, 4 * 86400)
    plan = Plan((Tier(30 * DAY, DAY, bounds=bounds),))
    tracked(1, pace=1.0 / (5 * 86400))
    [quick] = [run(plan=plan).expected_lookups]
    ForecastDay.objects.all().delete()
    TweetUpdate.objects.all().delete()
    tracked(1, age=5 * DAY + HOUR, pace=0.0)

    assert quick > run(plan=plan).expected_lookups >= 1


def test_the_first_forecast_of_a_day_is_kept(credential):
    kept(TODAY - 5 * DAY)
    first = run()
    tracked(10)

    soon = run(NOON + 9 * MINUTE)
    later = run(NOON + 10 * MINUTE)

    assert first.foreseen_lookups == soon.expected_lookups == 0
    assert later.expected_lookups == 20
    assert (later.foreseen_at, later.foreseen_lookups) == (NOON, 0)


def test_a_guess_is_made_again_each_minute(credential):
    assert run().is_guess
    tracked(10)

    assert run(NOON + MINUTE).expected_lookups == 20


def test_a_forecast_is_never_below_what_has_happened(credential):
    kept(TODAY - 5 * DAY)
    run()
    asked(30, NOON)
    spending = Spending.objects.create(project=credential.app.project, day=TODAY, posts=20)

    soon = run(NOON + 2 * MINUTE)

    assert (soon.expected_at, soon.foreseen_lookups) == (NOON, 0)
    assert (soon.expected_lookups, soon.expected_tweet_days) == (30, 20)
    # A project of which nothing was foreseen expects nothing until it is.
    other = Spending.objects.create(project=ProjectFactory(name="new"), day=TODAY, posts=5)
    run(NOON + 3 * MINUTE)
    expected = dict(ForecastOfProject.objects.values_list("project_id", "expected"))
    assert expected == {spending.project_id: 20, other.project_id: None}


def test_after_midnight_a_day_is_closed_with_what_came(credential):
    run(NOON)
    tracked(5, age=11 * HOUR, came=NOON + 2 * HOUR, at=MIDNIGHT)
    # The first one without a source, as of a program.
    tracked(1, age=2 * DAY, came=NOON, at=MIDNIGHT)
    asked(400, NOON)
    asked(50, MIDNIGHT - MINUTE)

    today = run(MIDNIGHT)

    yesterday = ForecastDay.objects.get(day=TODAY)
    assert (yesterday.newcomers_came, yesterday.others_came) == (5, 1)
    assert yesterday.lookups == 450
    assert today.lookups == 0
    assert today.foreseen_at == MIDNIGHT


def test_a_batch_that_is_counted_after_midnight_still_counts(credential):
    run(MIDNIGHT - MINUTE)
    run(MIDNIGHT)
    asked(50, MIDNIGHT - MINUTE)

    run(MIDNIGHT + 5 * MINUTE)

    assert ForecastDay.objects.get(day=TODAY).lookups == 50


def kept(day, **fields):
    began = datetime.combine(day, datetime.min.time(), UTC)
    row = {
        "foreseen_at": began + MINUTE, "known_lookups": 100.0, "new_lookups": 0.0,
        "known_days": 50.0, "new_days": 10.0, "newcomers": 10.0, "lookups": 90,
        "tweet_days": 50, "newcomers_came": 0.0,
    }  # fmt: skip
    return ForecastDay.objects.create(day=day, **{**row, **fields})


def test_errors_of_earlier_days_correct_today(credential):
    kept(TODAY - DAY)
    kept(TODAY - 2 * DAY, lookups=70, newcomers_came=0.0)
    tracked(10)

    row = run()

    assert row.lookups_correction == pytest.approx(0.8)
    assert row.expected_lookups == pytest.approx(20 * 0.8)
    assert row.days_correction == pytest.approx(1.0)


@pytest.mark.parametrize(
    "given",
    [
        {"foreseen_at": NOON - DAY},
        {"newcomers_came": None},
        {"known_lookups": None},
        {"day": TODAY - 4 * DAY},
    ],
    ids=["made late", "not over", "nothing foreseen", "long ago"],
)
def test_a_partly_forecast_day_corrects_nothing(credential, given):
    kept(**{"day": TODAY - DAY, **given})

    assert run().lookups_correction == 1


def test_a_day_with_an_import_corrects_nothing(credential):
    """Its look-ups were not in the forecast, and are no error of the walk."""
    kept(TODAY - DAY, tweet_days=1000, lookups=5_000, others_came=51.0)
    assert run().lookups_correction == 1

    ForecastDay.objects.filter(day=TODAY).delete()
    ForecastDay.objects.update(others_came=50.0)

    assert run().lookups_correction == MAX_CORRECTION


def test_a_day_corrects_only_once(credential):
    """What was foreseen was corrected already."""
    kept(TODAY - DAY, known_lookups=80.0, lookups_correction=0.8, lookups=80)

    assert run().lookups_correction == pytest.approx(0.8)


def test_a_forecast_stays_within_the_budget(credential):
    ProjectFactory._meta.model.objects.update(posts_a_day=6)
    tracked(10)

    row = run()

    assert row.expected_tweet_days == 6
    of_project = ForecastOfProject.objects.get(day=TODAY)
    assert (of_project.expected, of_project.unlimited) == (6, 10)
    assert ForecastOfProject.objects.get(day=TODAY + DAY).unlimited == 10


def test_without_a_credential_the_forecast_says_so_instead_of_0():
    tracked(10)
    asked(5, NOON - HOUR)

    row = run()

    assert (row.lookups, row.expected_lookups, row.expected_tweet_days) == (5, None, None)
    assert row.foreseen_lookups is None
    assert row.why == NONE_YET
    assert stored_forecast(now=NOON).why == NONE_YET


def test_while_the_queue_is_paused_nothing_is_expected(credential):
    Queue.objects.filter(pk=TWEET_UPDATE).update(paused=True)

    assert (run().why, run().expected_lookups) == (PAUSED, None)


def test_without_windows_the_forecast_is_what_the_intervals_ask_for(credential):
    Window.objects.all().delete()
    tracked(10)

    row = run()

    assert (row.expected_lookups, row.why) == (20, NO_WINDOWS)


def test_the_reason_for_a_missing_forecast_is_cleared_when_it_is_known(credential):
    Credential.objects.update(disabled_at=NOON)
    run()
    Credential.objects.update(disabled_at=None)

    assert run(NOON + 10 * MINUTE).why == ""


def test_there_is_no_forecast_before_the_first_run():
    forecast = stored_forecast(now=NOON, with_projects=True)

    assert forecast.why == NOT_YET
    assert not forecast.is_fresh
    assert (forecast.today.lookups, forecast.today.expected_lookups) == (None, None)


def test_the_periodic_task_stores_today_and_tomorrow(credential):
    forecast_days()

    now, _ = intervals.current()
    days = ForecastDay.objects.exclude(expected_at=None).values_list("day", flat=True)
    assert list(days) == [now.date() + DAY, now.date()]
    assert Schedule.objects.get(func="trackers.tasks.forecast_days").minutes == 1


def test_old_forecasts_are_dropped(credential):
    kept(TODAY - keeping.FORECASTS_KEPT_FOR - DAY)
    kept(TODAY - keeping.FORECASTS_KEPT_FOR)

    assert prune_forecasts(today=TODAY) == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_clusters_one_computes_the_forecast(credential):
    """The second neither waits nor writes."""
    tracked(10)

    def alone(at):
        try:
            update_forecasts(PLAN, now=at, gone_every=DAY)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as clusters:
        with transaction.atomic(), cursor() as db:
            # The first stands before its sample, with today's row in hand.
            db.execute("LOCK TABLE trackers_tweetupdate IN ACCESS EXCLUSIVE MODE")
            first = clusters.submit(alone, NOON)
            wait_until(is_waited_for, what="the first one waits")
            clusters.submit(alone, NOON + MINUTE).result(30)
            assert not ForecastDay.objects.exclude(foreseen_at=None).exists()
            assert not first.done()
        first.result(60)

    row = ForecastDay.objects.get(day=TODAY)
    assert (row.foreseen_at, row.expected_at, row.expected_lookups) == (NOON, NOON, 20)
    assert ForecastDay.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_run_reads_as_much_for_any_number_of_tweets(credential, monkeypatch):
    """With statistics of emptied tables, by which a planner would walk over them."""
    sample = {"exactly": 1000, "drawn": 1000}
    monkeypatch.setattr(sampling, "SAMPLE_FOR_DAYS", sample)
    monkeypatch.setattr(keeping, "SAMPLE_FOR_DAYS", sample)
    fill_what_was_drained(60_000, payers=[credential.app.project_id, None])
    now, plan = intervals.current()
    # Near midnight only what is due already would be left of the day, which is sampled.
    morning = (now + DAY).replace(hour=1)

    with reading() as read:
        update_forecasts(plan, now=morning, gone_every=DAY)

    row = ForecastDay.objects.get(day=morning.date())
    assert row.expected_lookups > 60_000
    assert row.why == ""
    assert read.walked == {TWEETS: 0, QUEUE: 0}
    # Once for the forecast, once for those that came yesterday.
    assert read.found[QUEUE] <= 4000
    assert read.found[TWEETS] <= 4000
