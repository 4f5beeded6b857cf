"""The tweets, counted: up to ten thousand by anybody, more of them by a cluster and seldom."""

from datetime import timedelta
from itertools import pairwise

import pytest

from tests.factories import TweetFactory, TweetUpdateFactory, id_born
from tests.queues import fill_buckets
from trackers.jobs.statistics import FRESH_FOR, MAX_COUNTED_KEYS, PAUSE_FACTOR
from trackers.schedule.census import CENSUS_AGES, census, count_bounded, record_census
from trackers.schedule.intervals import Plan, Tier, current
from trackers.schedule.models import TweetCensus
from tweetwatch.database import cursor

MANY = MAX_COUNTED_KEYS + 2000
DAY, LONG = timedelta(days=1), timedelta(hours=1)
# Every tweet of these tests is in its one tier.
PLAN = Plan((Tier(100_000 * DAY, timedelta(seconds=100)),))
TWEETS = """
    INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason, measurements)
    SELECT n, now(), '', false, '', 0 FROM generate_series(1, %(many)s) n
"""
JOBS = """
    INSERT INTO trackers_tweetupdate (key, due_at, strikes)
    SELECT n, now(), 0 FROM generate_series(1, %(many)s) n
"""


def fill(many):
    with cursor() as db:
        db.execute(TWEETS, {"many": many})
        db.execute(JOBS, {"many": many})
        fill_buckets(db)


def census_now():
    now, _ = current()
    return census(PLAN, now=now)


def taken():
    now, _ = current()
    return record_census(PLAN, now=now)


def make_older(by):
    row = TweetCensus.objects.get()
    row.taken_at -= by
    row.save()


def test_few_tweets_are_counted_on_request():
    TweetFactory(paused=True)
    TweetFactory(gone_at=current()[0])
    TweetUpdateFactory.create_batch(3)

    found = census_now()

    assert (found.tracked, found.gone, found.paused) == (2, 1, 1)
    assert found.demand == pytest.approx(3 / 100)


def test_a_census_of_a_cluster_is_read_until_it_is_old():
    TweetFactory()
    taken()
    TweetFactory()

    assert census_now().tracked == 1
    make_older(FRESH_FOR + timedelta(seconds=1))
    assert census_now().tracked == 2


def test_many_tweets_are_counted_by_a_cluster():
    fill(MANY)

    before = census_now()
    taken()
    after = census_now()

    assert (before.is_counted, before.demand) == (False, None)
    assert (after.tracked, after.is_counted) == (MANY, True)
    assert after.demand == pytest.approx(MANY / 100)


def test_without_a_cluster_an_old_census_is_returned_with_its_time():
    fill(MANY)
    taken()
    make_older(LONG)
    TweetFactory(id=MANY + 1)

    found = census_now()

    assert found.tracked == MANY
    assert current()[0] - found.taken_at >= LONG


def test_a_census_pauses_fifty_times_its_duration():
    fill(MANY)
    assert taken()
    took = timedelta(minutes=1)
    TweetCensus.objects.update(took=took)

    make_older(PAUSE_FACTOR * took - timedelta(seconds=10))
    assert not taken()
    assert census_now().tracked == MANY, "it is not old before it had to be counted again"
    make_older(timedelta(seconds=10))
    assert taken()


@pytest.mark.parametrize("analyzed", [True, False])
def test_a_reading_covers_a_bounded_part_of_the_tweets(analyzed):
    fill(100_000)
    with cursor() as db:
        if analyzed:
            db.execute("ANALYZE trackers_tweet")
            db.execute("ANALYZE trackers_tweetupdate")
    before = walked()

    count_bounded(PLAN, now=current()[0])

    assert walked() - before <= 2 * MAX_COUNTED_KEYS


def walked():
    """Rows of the two tables that this transaction has looked at."""
    with cursor() as db:
        [rows] = db.execute(
            "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
            " WHERE relname IN ('trackers_tweet', 'trackers_tweetupdate')"
        ).fetchone()
    return rows


def test_ages_of_the_census_increase_from_zero():
    assert list(CENSUS_AGES) == sorted(set(CENSUS_AGES))
    assert CENSUS_AGES[0] == timedelta(0)


def test_the_census_counts_tweets_by_age_without_resting_ones():
    now, _ = current()
    for age in (timedelta(seconds=30), timedelta(minutes=3), timedelta(minutes=3), 40 * DAY):
        TweetFactory(id=id_born(now - age, TweetFactory._meta.model.objects.count()))
    TweetFactory(id=id_born(now + timedelta(minutes=1), 9))

    counts = count_bounded(Plan(()), now=now).ages

    told = {
        since: many for (since, _), many in zip(pairwise(CENSUS_AGES), counts, strict=True) if many
    }
    assert told == {timedelta(0): 2, timedelta(minutes=2): 2, 30 * DAY: 1}
    TweetFactory._meta.model.objects.update(paused=True)
    assert sum(count_bounded(Plan(()), now=now).ages) == 0
