"""The pages' figures come from rows that a cluster writes, and say so when these are old."""

import io
import json
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command

from tests.pages.conftest import flat
from tests.queues import fill_buckets
from trackers.jobs.observed.models import QueueStatistics
from trackers.jobs.statistics import MAX_COUNTED_KEYS
from trackers.schedule.models import TweetCensus
from trackers.tasks import record_statistics
from tweetwatch.database import cursor

MANY = 50_000
TABLES = ("trackers_tweet", "trackers_tweetupdate", "trackers_tweetbucket")
TWEETS = """
    INSERT INTO trackers_tweet (id, tracked_at, came_from, paused, missing_reason, measurements)
    SELECT n, now(), '', false, '', 0 FROM generate_series(1, %(many)s) n
"""
JOBS = """
    INSERT INTO trackers_tweetupdate (key, due_at, strikes)
    SELECT n, now() - interval '1 minute', 0 FROM generate_series(1, %(many)s) n
"""
WALKED = """
    SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
    FROM pg_stat_xact_user_tables WHERE relname = ANY(%(tables)s)
"""


@pytest.fixture
def many():
    with cursor() as db:
        db.execute(TWEETS, {"many": MANY})
        db.execute(JOBS, {"many": MANY})
        fill_buckets(db)


def walked():
    """Rows of the large tables that this transaction has looked at."""
    with cursor() as db:
        return db.execute(WALKED, {"tables": list(TABLES)}).fetchone()[0]


def status():
    out = io.StringIO()
    call_command("status", "--json", stdout=out)
    return json.loads(out.getvalue())


def readers(staff, settings):
    settings.METRICS_KEY = "a-key-of-twenty-letters"
    key = {"Authorization": f"Bearer {settings.METRICS_KEY}"}
    return {
        "operations": lambda: staff.get("/operations/?part=figures"),
        "metrics": lambda: staff.get("/metrics", headers=key),
        "status": status,
    }


@pytest.mark.parametrize("reader", ["operations", "metrics", "status"])
def test_while_a_cluster_runs_a_page_counts_nothing(many, staff, settings, reader):
    record_statistics()
    before = walked()

    readers(staff, settings)[reader]()

    assert walked() == before


@pytest.mark.parametrize("reader", ["operations", "metrics", "status"])
def test_without_a_cluster_a_page_counts_a_bounded_part(many, staff, settings, reader):
    before = walked()

    readers(staff, settings)[reader]()

    # What is due, what is scheduled, the tweets and their tiers; `status` tells each queue twice.
    assert walked() - before <= 9 * MAX_COUNTED_KEYS


def test_a_queue_that_was_never_counted_is_shown_as_such(many, staff):
    page = flat(staff.get("/operations/"))

    assert '<dt>Due now</dt><dd><data data-figure="queue.due" value="10000"' in page
    assert "they have not been counted yet" in page


def test_an_old_count_is_shown_with_its_age(many, staff):
    record_statistics()
    for row in (*QueueStatistics.objects.all(), *TweetCensus.objects.all()):
        row.taken_at -= timedelta(minutes=5)
        if isinstance(row, QueueStatistics) and row.whole_at:
            row.whole_at -= timedelta(minutes=5)
        row.save()

    page, status_text = flat(staff.get("/operations/")), status()

    assert "The queue was last counted" in page
    assert "5 min ago" in page
    assert '<dt>Due now</dt><dd><data data-figure="queue.due" value="50000"' in page
    assert status_text["tracked"] == status_text["due"] == MANY
    assert datetime.fromisoformat(
        status_text["taken_at"]
    ) <= datetime.now().astimezone() - timedelta(minutes=4)


def test_a_short_queue_is_shown_without_an_age(staff):
    record_statistics()

    assert "counted" not in staff.get("/operations/").content.decode()
