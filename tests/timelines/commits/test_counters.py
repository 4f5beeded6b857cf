"""Figures of homes: how late deliveries are, how much there is, where pages come from."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from tests.timelines.homes.world import (
    bring,
    built,
    configure,
    deliver_all,
    follower,
    source,
    tweet,
)
from trackers.arrivals.models import Arrival, TimelineDelivery
from trackers.timelines import homes, store
from trackers.timelines.homes import read_counts
from trackers.timelines.models import HomeReads
from trackers.timelines.statistics import LAG, Homes, timelines
from trackers.timelines.store import Entry
from tweetwatch.database import cursor

MANY_WAIT = """
    WITH put AS (
        INSERT INTO trackers_timelinedelivery (key, due_at, stamp)
        SELECT n, now() + n * interval '1 ms', n
        FROM generate_series(%(first)s::bigint, %(first)s::bigint + %(count)s::bigint) n
        RETURNING *
    )
    INSERT INTO trackers_deliverybucket (due_at, stamp, keys)
    SELECT due_at, stamp, ARRAY[key] FROM put
"""

pytestmark = pytest.mark.django_db


def test_the_lag_of_deliveries_is_that_of_the_oldest_waiting_tweet():
    home, origin, other = follower(), source(), source()
    for came_from in (origin, other):
        homes.follow(home, source_id=came_from)
    built(home, "sized")
    bring(origin, tweet(1), tweet(2))
    assert deliver_all()
    bring(origin, tweet(3))
    bring(origin, tweet(4))
    bring(other, tweet(5))
    # What is delivered waits no more, however old it is.
    waited = {tweet(1): 900, tweet(3): 500, tweet(4): 30, tweet(5): 60}
    for id, seconds in waited.items():
        Arrival.objects.filter(tweet_id=id).update(came_at=now() - timedelta(seconds=seconds))

    found = timelines(now=now())
    assert found.behind == 2
    assert found.lag_seconds == pytest.approx(500, abs=60)

    deliver_all()
    assert (timelines(now=now()).lag_seconds, timelines(now=now()).behind) == (0, 0)


def test_an_isolated_delivery_counts_as_waiting():
    home, one = follower(), source()
    homes.follow(home, source_id=one)
    bring(one, tweet(1))
    Arrival.objects.update(came_at=now() - timedelta(seconds=500))
    TimelineDelivery.objects.update(strikes=4, stamp=None)

    assert timelines(now=now()).lag_seconds == pytest.approx(500, abs=60)


def test_the_lag_of_deliveries_does_not_read_the_whole_queue():
    with cursor() as db:
        db.execute(MANY_WAIT, {"first": 10_000_000, "count": 30_000})
        db.execute("ANALYZE trackers_timelinedelivery, trackers_deliverybucket")
        plan = "\n".join(row[0] for row in db.execute(f"EXPLAIN {LAG}").fetchall())

    assert "Seq Scan on trackers_timelinedelivery" not in plan
    assert "Seq Scan on trackers_deliverybucket" not in plan


def test_sizes_of_homes_and_timelines_are_counted():
    home = follower()
    homes.follow(home, source_id=source())
    built(home, "sized", "cache")
    store.set("a", [Entry(1), Entry(2)])

    results = timelines(now=now())

    assert (results.followers, results.follows) == (1, 1)
    assert results.homes == {"cache": Homes(1), "sized": Homes(1), "timed": Homes()}
    # The home's own too.
    assert (results.timelines, results.entries) == (2, 2)
    assert results.store_bytes > 0
    assert results.bucket_bytes > 0


def test_without_pages_of_buildable_homes_there_is_no_hit_rate():
    assert timelines(now=now()).hit_rate is None
    HomeReads.objects.create(day=now().date(), served_by="read", pages=5)
    assert timelines(now=now()).hit_rate is None
    HomeReads.objects.create(day=now().date() - timedelta(days=9), served_by="cache", pages=5)
    assert timelines(now=now()).hit_rate is None


@pytest.mark.django_db(transaction=True)
def test_pages_are_counted_by_how_they_were_read():
    read_counts.pending.counts.clear()
    home, came_from = follower(), source()
    homes.follow(home, source_id=came_from)
    bring(came_from, tweet(1))
    configure(strategy="sized")

    homes.home_page(home)
    built(home, "sized")
    for _ in range(3):
        homes.home_page(home)
    read_counts.add_pending()

    assert timelines(now=now()).pages == {"read(rebuilding)": 1, "buckets": 3}
    assert timelines(now=now()).hit_rate == 0.75


def test_old_days_are_pruned():
    for days in (0, 89, 91):
        day = now().date() - timedelta(days=days)
        HomeReads.objects.create(day=day, served_by="cache", pages=1)

    assert read_counts.prune_home_reads() == 1
