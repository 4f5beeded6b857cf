"""How many new tweets a forecast expects: posts made after their source was first read, by the time
in which it was read."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import AppFactory, CredentialFactory, TweetFactory, id_born
from trackers.forecasts.models import ForecastDay
from trackers.forecasts.update import update_forecasts
from trackers.ingest.files.models import Import
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule.intervals import Plan, Tier

pytestmark = pytest.mark.django_db

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOON = datetime(2026, 6, 10, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _credential():
    CredentialFactory(app=AppFactory())


def source(of="cats", *, read, polled=NOON, kind=Source.Kind.SEARCH, **fields):
    """Read first so long ago."""
    made = Source.objects.create(
        kind=kind, of=of, first_read_at=NOON - read, polled_at=polled, **fields
    )
    Source.objects.filter(pk=made.pk).update(created_at=NOON - 30 * DAY)
    return made


def posts(many, *, since, until, of=None, tracked_at=None):
    """Made evenly between two times before noon, and found two minutes later."""
    step = (since - until) / many
    for place in range(many):
        born = NOON - since + step * (place + 0.5)
        id = id_born(born, low=1 if of is None else of.pk % 1000)
        TweetFactory(id=id, created_at=born, tracked_at=tracked_at or born + 2 * MINUTE)
        queue.schedule(TWEET_UPDATE, id, HOUR)
        if of is not None:
            SourceTweet.objects.create(source=of, tweet_id=id, seen_at=born)


def expected(lasts=30 * DAY):
    """New tweets by midnight."""
    update_forecasts(Plan((Tier(lasts, 6 * HOUR),)), now=NOON, gone_every=DAY)
    return ForecastDay.objects.get(day=NOON.date())


def test_new_posts_are_divided_by_the_time_in_which_their_source_was_read():
    """Ten in an hour are 120 in half a day; by 24 hours they were five."""
    cats = source(read=HOUR)
    posts(10, since=HOUR, until=0 * HOUR, of=cats)

    row = expected()

    assert row.newcomers == pytest.approx(120, rel=0.01)
    assert row.is_guess


def test_posts_of_before_the_first_reading_and_of_files_are_not_expected_again():
    cats = source(read=HOUR)
    file = source("old.csv", read=2 * HOUR, kind=Source.Kind.IMPORT)
    posts(50, since=DAY, until=HOUR + MINUTE, of=cats, tracked_at=NOON - HOUR)
    posts(70, since=50 * MINUTE, until=10 * MINUTE, of=file, tracked_at=NOON - 5 * MINUTE)

    assert expected().newcomers == 0


def test_each_source_counts_by_its_own_time():
    old, young = source("old", read=9 * DAY), source("young", read=2 * HOUR)
    posts(24, since=DAY, until=0 * HOUR, of=old)
    posts(6, since=2 * HOUR, until=0 * HOUR, of=young)

    row = expected()

    assert row.newcomers == pytest.approx(12 * 1 + 12 * 3, rel=0.01)


def test_time_since_the_last_poll_was_not_read():
    hourly = source(read=3 * HOUR, polled=NOON - HOUR)
    posts(20, since=3 * HOUR, until=HOUR, of=hourly)

    assert expected().newcomers == pytest.approx(120, rel=0.01)


def test_nothing_is_expected_of_a_paused_source():
    paused = source(read=3 * HOUR, paused_at=NOON - MINUTE)
    posts(20, since=3 * HOUR, until=HOUR, of=paused)

    assert expected().newcomers == 0


def test_a_tweet_of_two_sources_counts_once():
    old, young = source("old", read=9 * DAY), source("young", read=HOUR)
    posts(24, since=DAY, until=0 * HOUR, of=old)
    for pair in SourceTweet.objects.all():
        SourceTweet.objects.create(source=young, tweet_id=pair.tweet_id, seen_at=pair.seen_at)

    assert expected().newcomers == pytest.approx(12, rel=0.01)


def test_tweets_of_programs_count_from_the_first_of_them_on():
    """The first ones are older than the program: they say nothing."""
    posts(500, since=20 * HOUR, until=5 * HOUR, tracked_at=NOON - 5 * HOUR)
    posts(50, since=5 * HOUR, until=0 * HOUR)

    assert expected().newcomers == pytest.approx(120, rel=0.01)


def test_where_tweets_rest_within_a_day_their_number_is_of_that_time():
    cats = source(read=9 * DAY)
    posts(24, since=2 * HOUR, until=0 * HOUR, of=cats)

    assert expected(lasts=2 * HOUR).newcomers == pytest.approx(144, rel=0.01)


def test_a_forecast_is_a_guess_until_a_day_was_seen():
    ForecastDay.objects.create(day=NOON.date() - 3 * DAY, foreseen_at=NOON - 3 * DAY)
    source("old", read=9 * DAY)
    assert not expected().is_guess

    Source.objects.all().delete()
    ForecastDay.objects.filter(day=NOON.date()).update(expected_at=None)
    source("young", read=23 * HOUR)
    assert expected().is_guess


def test_a_closed_day_counts_as_newcomers_what_a_forecast_could_expect():
    """What comes with a file, a first poll or a backfill is counted apart."""
    expected()
    cats = source(read=HOUR)
    file = source("old.csv", read=HOUR, kind=Source.Kind.IMPORT)
    posts(50, since=DAY, until=HOUR + MINUTE, of=cats, tracked_at=NOON - HOUR)
    posts(70, since=50 * MINUTE, until=10 * MINUTE, of=file, tracked_at=NOON - 5 * MINUTE)
    posts(7, since=45 * MINUTE, until=15 * MINUTE, of=cats)
    # Some rest already, and have no next look-up.
    Import.objects.create(source=file, tracked=90, began_at=NOON, ended_at=NOON + HOUR)
    paused = source("ids.csv", read=HOUR, kind=Source.Kind.IMPORT)
    Import.objects.create(source=paused, tracked=5, began_at=NOON, paused=True)

    update_forecasts(Plan((Tier(DAY, HOUR),)), now=NOON + 12 * HOUR + MINUTE, gone_every=DAY)

    day = ForecastDay.objects.get(day=NOON.date())
    assert (day.newcomers_came, day.others_came) == (7, 50 + 90)
