"""What adapting rows ask the database each minute and in each piece, with a million tweets."""

import time
from datetime import timedelta

import pytest

from tests.factories import AppFactory, CredentialFactory, IntervalFactory, ProjectFactory
from tests.large_tables import QUEUE, TWEETS, fill, reading
from trackers.forecasts.hour import next_hour, record_hour
from trackers.forecasts.models import ForecastDay
from trackers.forecasts.population import EXACTLY
from trackers.forecasts.update import update_forecasts
from trackers.jobs import statistics
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule import intervals
from trackers.schedule.census import record_census
from trackers.schedule.models import Interval
from trackers.schedule.population import PLACES, TWEETS_A_PLACE
from trackers.schedule.replan import TWEETS_PER_PIECE, plan_piece, replan
from trackers.schedule.stretch.update import update_stretch
from trackers.updater.needs import COUNTED_EXACTLY, MAX_SAMPLE
from tweetwatch.database import cursor

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.more,
    pytest.mark.timeout(900),
]

MILLION = 1_000_000
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
# Of random paces, as the growths of real tweets: most of them small.
PACES = "UPDATE trackers_tweet SET pace = power(random(), 4) / 86400"
# Not all overdue, and each from a source.
SPREAD = (
    "UPDATE trackers_tweetupdate SET due_at = now() + (random() - 0.1) * interval '4 hours'",
    """
    WITH source AS (
        INSERT INTO trackers_source (kind, of, owner, priority, every, pages, exclude_replies,
            exclude_retweets, created_at, username, passed_id, begun_id, version, left_out, yielded,
            again, leaked, hidden_reason, problem, failures, polled_at)
        SELECT 'search', 'cats', '', 1, '5 minutes', 10, false, false, now() - interval '9 hours',
               '', 0, 0, 0, '{}', 0, 0, 0, '', '', 0, now() RETURNING id
    )
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT source.id, t.id, now(), false FROM trackers_tweet t, source
    """,
)


@pytest.fixture
def plan():
    """Two adapting rows and a million tweets, for a quarter of which there is money."""
    project = ProjectFactory(posts_a_day=MILLION // 8)
    CredentialFactory(app=AppFactory(project=project))
    Interval.objects.all().delete()
    for younger_than, at_least in ((DAY, HOUR), (30 * DAY, 4 * DAY)):
        IntervalFactory(
            younger_than=younger_than,
            every=HOUR,
            accuracy=0.05,
            at_most=60 * SECOND,
            at_least=at_least,
        )
    fill(MILLION, payers=[project.pk, None])
    with cursor() as db:
        for statement in (PACES, *SPREAD):
            db.execute(statement, prepare=False)
    return intervals.current()[1]


def test_no_statement_of_stretches_replans_and_forecasts_scans_a_million_rows(plan, capsys):
    now, _ = intervals.current()
    # A cluster counts these for all readers, and less often the longer it takes.
    record_census(plan, now=now)
    statistics.record_summary(TWEET_UPDATE)
    took = {}

    with reading() as stretched:
        began = time.monotonic()
        row = update_stretch(plan, now=now)
        took["stretch"] = time.monotonic() - began
    replan()
    with reading() as piece:
        began = time.monotonic()
        assert plan_piece(1)
        took["piece"] = time.monotonic() - began
    with reading() as foreseen:
        began = time.monotonic()
        update_forecasts(plan, now=now, gone_every=DAY)
        took["forecast"] = time.monotonic() - began
    with reading() as ahead:
        began = time.monotonic()
        assert record_hour(plan, now=now, gone_every=DAY)
        took["hour"] = time.monotonic() - began

    seen = {"stretch": stretched, "piece": piece, "forecast": foreseen, "hour": ahead}
    with capsys.disabled():
        for name, read in seen.items():
            print(f"\n{name}: {took[name]:.2f} s, {read}", end="")
    assert [read.walked for read in seen.values()] == 4 * [{TWEETS: 0, QUEUE: 0}]
    assert row.money > 1
    # Those of each adapting row.
    assert 0 < stretched.found[TWEETS] <= 2 * PLACES * TWEETS_A_PLACE
    assert stretched.found[QUEUE] == 0
    assert 0 < piece.found[TWEETS] <= 1.1 * TWEETS_PER_PIECE
    # Found to be locked, to be changed, and to be there.
    assert TWEETS_PER_PIECE <= piece.found[QUEUE] <= 4 * TWEETS_PER_PIECE
    assert ForecastDay.objects.get(day=now.date()).expected_lookups > 0
    # Once for the forecast, once for those that came yesterday.
    assert 0 < foreseen.found[TWEETS] <= 2 * (EXACTLY + MAX_SAMPLE)
    assert 0 < foreseen.found[QUEUE] <= 2 * (EXACTLY + MAX_SAMPLE)
    assert 0 < ahead.found[TWEETS] <= COUNTED_EXACTLY + MAX_SAMPLE
    assert 0 < ahead.found[QUEUE] <= COUNTED_EXACTLY + MAX_SAMPLE
    assert sum(minute.known for minute in next_hour(now=now).minutes) > MILLION // 5
