"""A tweet that nobody will look up again is described before its figures are saved."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import F

from tests.updater.process.test_refresh import refresh, shown_of, tracked, x
from tests.x import wait_until
from trackers.schedule.models import Interval
from trackers.tweets.models import Tweet, TweetText
from trackers.updater.models import TweetUpdate

__all__ = ["x"]

# Two sessions, which see of each other what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

WAITS_FOR_US = "FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"


def test_a_worker_killed_before_the_texts_leaves_no_resting_tweet_without_text(x):
    # Most are too old to be looked at again; nobody would come back to describe them.
    Interval.objects.exclude(pk=Interval.objects.order_by("younger_than")[0].pk).delete()
    Interval.objects.update(younger_than=F("every") + timedelta(seconds=1))
    tracked(x)
    visible = set(shown_of(x, 100))

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            # Texts cannot be written meanwhile, and figures can.
            asked("LOCK TABLE trackers_author IN EXCLUSIVE MODE")
            worker = thread.submit(refresh_in_a_session_of_its_own)
            wait_until(lambda: asked(f"SELECT pid {WAITS_FOR_US}"))
            # This is what it would leave if it were killed now: all will be looked up again.
            assert TweetUpdate.objects.filter(key__in=visible).count() == len(visible)
            assert not Tweet.objects.filter(measurements=1).exists()
            # A connection that breaks costs nothing that was paid for.
            assert asked(f"SELECT pg_terminate_backend(pid) {WAITS_FOR_US}") == [(True,)]
        worker.result(60)

    described = Tweet.objects.filter(measurements=1).exclude(created_at=None)
    assert set(described.values_list("pk", flat=True)) == visible
    assert set(TweetText.objects.values_list("pk", flat=True)) == visible
    assert TweetUpdate.objects.filter(key__in=visible).count() < len(visible)


def asked(question):
    with connection.cursor() as db:
        db.execute(question)
        return db.fetchall() if db.description else None


def refresh_in_a_session_of_its_own():
    try:
        refresh()
    finally:
        connection.close()
