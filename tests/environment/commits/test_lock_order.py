"""Statements that write several rows lock them in the order of ids, however they are planned.

The tables are as small as on a first day, and analysed: so the planner reads them from their first
page to their last, in which the rows lie the other way round.
"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from tests.factories import CredentialFactory, TweetFactory, figures, post
from tests.x import wait_until
from trackers.credentials.models import Credential, Window
from trackers.events.models import Subscriber, SubscriberState
from trackers.events.subscribers.disabling import disable_failing
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule.intervals import Plan
from trackers.schedule.tweet_changes import pause_tweets, untrack_tweets
from trackers.tweets.authors import store_names
from trackers.tweets.describe import describe, withhold
from trackers.tweets.models import Author, Tweet
from trackers.tweets.record import Measured, mark_paid, record
from trackers.updater.models import TweetBucket, TweetUpdate
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)
IDS = [3, 2, 1]
# Ways to read and join that the planner must do without, one set after the other.
INDEXES = ("indexscan", "indexonlyscan", "bitmapscan")
WITHOUT = [(), ("seqscan",), INDEXES, (*INDEXES, "nestloop"), (*INDEXES, "hashjoin", "material")]
WAITS_FOR_US = (
    "SELECT pid FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
)


@pytest.fixture
def tweets():
    now = timezone.now()
    for id in IDS:
        TweetFactory(id=id, tracked_at=now - HOUR)
    return Tweet


def measure(*, at=None):
    at = at or timezone.now()
    record([Measured(id, at, figures(id), HOUR) for id in IDS])


def recorded(tweets):
    measure()
    return tweets, measure


def recorded_late(tweets):
    measure()
    return tweets, lambda: measure(at=timezone.now() - HOUR)


def saved(tweets):
    for id in IDS:
        queue.schedule(TWEET_UPDATE, id, timedelta(0))
    batch = queue.get(TWEET_UPDATE, 100)
    verdicts = [Verdict(id, HOUR, figures(id), 2 * HOUR) for id in IDS]
    return tweets, lambda: save_batch(batch, [Judged(verdicts, at=timezone.now())], Plan(()))


def paid(tweets):
    return tweets, lambda: mark_paid(IDS, day=timezone.now().date(), project=1)


def described(tweets):
    return tweets, lambda: describe([post(id) for id in IDS])


def withheld(tweets):
    return tweets, lambda: withhold(dict.fromkeys(IDS, "DE"))


def paused(tweets):
    return tweets, lambda: pause_tweets(IDS)


def untracked(tweets):
    return tweets, lambda: untrack_tweets(IDS)


def merged_and_untracked(tweets):
    TweetFactory(id=10)
    tweets.objects.filter(pk__in=IDS).update(version_of=10)
    return tweets, lambda: untrack_tweets([10])


def authors(_tweets):
    for id in IDS:
        Author.objects.create(id=id)
    return Author, lambda: store_names(IDS, [], suspended=[])


def hidden(tweets):
    for id in IDS:
        Author.objects.create(id=10 * id)
        tweets.objects.filter(pk=id).update(missing_reason="unauthorized", author_id=10 * id)
    return tweets, lambda: store_names([10 * id for id in IDS], [], suspended=[10, 20, 30])


def disabled(_tweets):
    for id in IDS:
        Subscriber.objects.create(id=id, name=str(id), callback="https://a.example/", secrets={})
        SubscriberState.objects.update_or_create(
            subscriber_id=id, defaults={"failing_since": timezone.now() - HOUR}
        )
    return SubscriberState, lambda: disable_failing(after=timedelta(0))


def isolated(tweets):
    for id in IDS:
        queue.schedule(TWEET_UPDATE, id, timedelta(0))
    TweetBucket.objects.update(strikes=4)
    return TweetUpdate, lambda: queue.get(TWEET_UPDATE, 100)


def windows(_tweets):
    credential = CredentialFactory()
    for id in IDS:
        Window.objects.create(id=id, app=credential.app, credential=None, endpoint=str(id))
    return Window, Credential.objects.get().clear_rejections


@pytest.mark.parametrize(
    "prepared",
    [recorded, recorded_late, saved, paid, described, withheld, paused, untracked,
     merged_and_untracked, authors, hidden, disabled, isolated, windows],
)  # fmt: skip
def test_rows_are_locked_in_the_order_of_their_ids(tweets, prepared):
    model, act = prepared(tweets)
    table, key = model._meta.db_table, model._meta.pk.column
    # Written anew, the last id first.
    for id in IDS:
        execute(f"UPDATE {table} SET {key} = {key} WHERE {key} = {id}")
    execute(f"ANALYZE {table}")
    free = f"SELECT {key} FROM {table} WHERE {key} = ANY(%s) FOR UPDATE SKIP LOCKED"

    for ways in WITHOUT:
        with ThreadPoolExecutor(1) as thread:
            with transaction.atomic():
                execute(f"SELECT FROM {table} WHERE {key} = 2 FOR UPDATE")
                other = thread.submit(run_without, ways, act)
                wait_until(lambda other=other: execute(WAITS_FOR_US) or other.done())
                assert not other.done(), other.result()
                assert {*execute(free, [IDS])} == {(2,), (3,)}, f"1 before 2 before 3; off: {ways}"
            other.result(60)


def execute(statement, params=None):
    with connection.cursor() as db:
        db.execute(statement, params)
        return db.fetchall() if db.description else None


def run_without(ways, act):
    """In a session of its own, without these ways to read and join; and undo it."""
    try:
        for way in ways:
            execute(f"SET enable_{way} = off")
        with transaction.atomic():
            act()
            transaction.set_rollback(True)
    finally:
        connection.close()
