"""kill -9 in the middle of a transaction: nothing is lost, and nothing is there twice."""

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
from django.conf import settings

from tests.conftest import PROJECT
from tests.databases import url_of
from tests.timelines.homes.sessions import session
from tests.timelines.homes.world import (
    assert_laid_out,
    assert_same,
    bring,
    built,
    configure,
    follower,
    source,
    tweet,
)
from tests.x import wait_until
from trackers.arrivals.models import Arrival, TimelineDelivery
from trackers.jobs.models import Job
from trackers.timelines import deliver, homes
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.models import BuiltHome, DeliveryMark, HomeRebuild
from trackers.timelines.settings import home_settings
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

WAITS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
"""


def worker():
    url = url_of(settings.DATABASES["default"]["TEST"]["NAME"])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.timelines.homes.worker"],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": url},
    )


@contextmanager
def killed_at(table):
    """A worker that comes to this table, and no further."""
    with session() as holding:
        holding.begin()
        holding.do(lambda: lock(table))
        process = worker()

        def it_waits():
            with cursor() as db:
                return db.execute(WAITS).fetchone()[0] > 0

        wait_until(it_waits, within=60)
        process.kill()
        process.wait()
        holding.commit()
        wait_until(lambda: not it_waits(), within=60)
    yield


def lock(table):
    with cursor() as db:
        db.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE", prepare=False)


def let_leases_run_out(jobs: type[Job]):
    assert jobs.bucket.objects.exclude(lease=None).exists()
    jobs.bucket.objects.update(due_at="2026-01-01T00:00Z")


def held(follower_id):
    return {one.key: sorted(one.held(follower_id)) for one in all_strategies(home_settings())}


def test_a_killed_delivery_loses_and_duplicates_nothing():
    entry, followers = source(), [follower() for _ in range(3)]
    for me in followers:
        homes.follow(me, source_id=entry)
        built(me)
    tweets = [tweet(n // 40, n) for n in range(deliver.ARRIVALS_PER_TRANSACTION + 100)]
    bring(entry, *tweets)
    deliver.deliver_page(entry)
    before, number = held(followers[0]), DeliveryMark.objects.get().number

    # The last that a page is put into: the others have been written then.
    with killed_at("trackers_timedbucket"):
        assert held(followers[0]) == before
        assert DeliveryMark.objects.get().number == number < Arrival.objects.last().number
        assert [len(assert_same(me, limit=800)) for me in followers] == [len(tweets)] * 3
    let_leases_run_out(TimelineDelivery)
    assert worker().wait(60) == 0

    assert not TimelineDelivery.objects.exists()
    for me in followers:
        assert held(me) == dict.fromkeys(["cache", "sized", "timed"], tweets)
        assert assert_laid_out(me) == 3


def test_a_killed_rebuild_is_done_again():
    origin, me = source(), follower()
    bring(origin, *(tweet(n // 40, n) for n in range(300)))
    homes.follow(me, source_id=origin)
    configure(strategy="sized")
    assert not homes.home_page(me).complete

    with killed_at("trackers_sourcetweet"):
        assert [feed.built_at for feed in BuiltHome.objects.all()] == [None]
        assert len(homes.home_page(me, limit=800).ids) == 300
        bring(origin, tweet(20))
    let_leases_run_out(HomeRebuild)
    assert worker().wait(60) == 0

    page = homes.home_page(me, limit=800)
    assert (len(page.ids), page.complete, page.served_by) == (301, True, "buckets")
    assert len(all_strategies(home_settings())[1].held(me)) == 301
    assert not HomeRebuild.objects.exists()
