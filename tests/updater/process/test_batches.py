"""A unit of several requests: they go out side by side, and what befalls one is its own affair."""

import os
import random
import signal
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from tests import queues
from tests.databases import url_of
from tests.factories import CredentialFactory, ProjectFactory
from tests.updater.process.test_refresh import held
from tests.x import wait_until
from trackers import tasks
from trackers.credentials.models import Credential
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.models import Project, Spending
from trackers.schedule.models import Interval
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetBucket, TweetUpdate
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 350


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    fakex.delete("projects")
    yield fakex
    fakex.delete("projects")


@pytest.fixture
def credential(x):
    return CredentialFactory(name="one")


def tracked(x, count=MANY):
    """As many live tweets, due now; what X's windows have left was told before."""
    scout, *ids = x.ids(count + 1)
    x.put("tweets", {str(id): {"state": "live"} for id in (scout, *ids)})
    list(track([FoundTweet(scout)], came_from="a test"))
    learn_the_windows()
    queue.remove_keys(TWEET_UPDATE, [scout])
    Tweet.objects.filter(id=scout).delete()
    list(track(map(FoundTweet, ids), came_from="a test"))
    due_again()
    x.delete("log")
    return ids


def learn_the_windows():
    for credential in Credential.objects.order_by("name"):
        due_again()
        Credential.objects.exclude(pk=credential.pk).update(disabled_at=timezone.now())
        refresh()
        Credential.objects.update(disabled_at=None)


def due_again():
    with cursor() as db:
        db.execute("UPDATE trackers_tweetbucket SET due_at = now() WHERE lease IS NULL")


def refresh(limit=1000):
    batch = queue.get(TWEET_UPDATE, limit)
    assert batch is not None
    tasks.update_tweets(batch)
    return batch


def asked(x):
    return [frozenset(map(int, entry["ids"])) for entry in x.log()]


def measured():
    return set(Tweet.objects.exclude(measurements=0).values_list("id", flat=True))


def leases():
    return queues.states(TweetUpdate)


def test_a_batch_is_looked_up_in_concurrent_full_requests(x, credential):
    ids = tracked(x)
    x.put("latency", {"ms": 300})

    refresh()

    entries = x.log()
    assert sorted(map(len, asked(x)), reverse=True) == [100, 100, 100, 50]
    assert frozenset().union(*asked(x)) == set(ids)
    assert max(entry["at_ms"] for entry in entries) < min(entry["done_ms"] for entry in entries)
    assert measured() == set(ids)
    assert leases() == {(None, 0)}


def test_a_second_batch_saves_what_x_answered(x, credential):
    """Nothing but counts is told of them then, which goes a shorter way."""
    ids = tracked(x)
    refresh()
    before = dict(Tweet.objects.values_list("id", "measured_until"))
    due_again()
    x.delete("log")

    refresh()

    for entry in x.log():
        assert "text" not in entry["fields"]
        for text, answer in entry["answers"].items():
            tweet = Tweet.objects.get(id=int(text))
            assert tweet.counts() == answer
            assert tweet.measured_until > before[tweet.id]
    assert len(measured()) == len(ids)


def test_only_the_tweets_of_a_failed_request_are_released(x, credential):
    ids = tracked(x)
    unlucky = min(ids)
    x.put("faults", [{"kind": "503_json", "match": {"ids": [str(unlucky)]}}])

    refresh()

    [lost] = [ids for ids in asked(x) if unlucky in ids]
    assert measured() == set(ids) - lost
    assert leases() == {(None, 0)}
    retry_first = Queue.objects.get(name=TWEET_UPDATE).retry_first
    with cursor() as db:
        db.execute("SELECT extract(epoch FROM max(due_at) - now()) FROM trackers_tweetupdate"
                   " WHERE key = ANY(%s)", [list(lost)])  # fmt: skip
        [wait] = db.fetchone()
    assert wait <= retry_first.total_seconds() * 1.2
    assert held() == ("", None), "the others were answered: nothing has to wait for X"


def test_a_batch_without_any_answer_is_one_failure(x, credential):
    tracked(x)
    x.put("faults", [{"kind": "503_json"}])

    refresh()

    assert len(asked(x)) == 4
    assert Queue.objects.get(name=TWEET_UPDATE).failures == 1
    assert leases() == {(None, 0)}


def test_a_429_keeps_other_answers_of_the_batch_and_closes_the_window(x, credential):
    ids = tracked(x)
    unlucky = min(ids)
    fault = {"kind": "429", "times": 1, "match": {"ids": [str(unlucky)]}}
    x.put("faults", [{**fault, "params": {"reset_in": 300}}])

    refresh()
    [lost] = [ids for ids in asked(x) if unlucky in ids]
    assert measured() == set(ids) - lost
    sent = len(x.log())
    refresh()

    assert len(x.log()) == sent, "the window is shut"
    assert held()[1] is not None
    assert leases() == {(None, 0)}


def test_a_refused_credential_counts_one_refusal_for_concurrent_requests(x, credential):
    tracked(x)
    x.put("faults", [{"kind": "401"}])

    refresh()

    assert len(asked(x)) == 4
    credential.refresh_from_db()
    assert (credential.refused, credential.disabled_at) == (1, None)
    assert leases() == {(None, 0)}


def test_a_window_smaller_than_a_batch_is_never_exceeded(x, credential):
    Interval.objects.exclude(younger_than__gt=timedelta(days=29)).delete()
    x.put("limits", {"GET /2/tweets": {"token": 3, "app": 3, "window": 900}})
    tracked(x)

    refresh()
    assert len(asked(x)) == 2, "one told what is left"
    refresh()

    assert [entry["status"] for entry in x.log()] == [200] * 2
    assert len(measured()) == 200
    assert held()[1] is not None
    assert leases() == {(None, 0)}


def test_batches_shrink_to_the_capacity_and_grow_again(x, credential):
    """What is claimed and put back is written twice, for nothing."""
    # Where some are younger than others, requests of a backlog are spread over the window.
    Interval.objects.exclude(younger_than__gt=timedelta(days=29)).delete()
    x.put("limits", {"GET /2/tweets": {"token": 4, "app": 4, "window": 900}})
    tracked(x, 1000)

    def claimed():
        batch = queue.claim_batch(TWEET_UPDATE)
        tasks.update_tweets(batch)
        return len(batch.keys)

    assert claimed() == 1000
    assert len(asked(x)) == 3
    assert claimed() == 300
    with cursor() as db:
        db.execute("UPDATE trackers_queue SET held_until = NULL")
        db.execute("UPDATE trackers_window SET remaining = 1000")
    x.put("limits", {"GET /2/tweets": {"token": 900, "app": 900, "window": 900}})
    assert [claimed() for _ in range(3)] == [100, 200, 400]


def test_requests_of_a_batch_share_a_budget_without_overdrawing(x, credential):
    tracked(x)
    Project.objects.update(posts_a_day=250, rationed_at=datetime.now(UTC), reserved_for_younger=[])

    refresh()

    # One was paid for before.
    assert sorted(map(len, asked(x))) == [49, 100, 100]
    [spent] = Spending.objects.all()
    assert (spent.posts, spent.posts_reserved) == (250, 0)
    assert len(measured()) == 249


@contextmanager
def cut_after(seconds):
    """Our connection to the database breaks meanwhile."""
    pid = connection.connection.info.backend_pid

    def cut():
        with psycopg.connect(url_of(connection.settings_dict["NAME"]), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [pid])

    timer = threading.Timer(seconds, cut)
    timer.start()
    try:
        yield
    finally:
        timer.join()


def test_an_answer_is_saved_after_a_broken_database_connection(x, credential):
    """Also where X shows one no more: what is known of its hundred is read only then."""
    tracked(x)
    refresh()
    due_again()
    first, *others = TweetUpdate.objects.order_by("-key").values_list("key", flat=True)
    assert len(others) > 100
    begun_at = timezone.now()
    x.put(f"tweets/{first}", {"state": "deleted"})
    x.put("latency", {"ms": 1000})

    with cut_after(0.4):
        refresh()

    now = Tweet.objects.filter(measured_until__gt=begun_at)
    assert set(now.values_list("id", flat=True)) == set(others)
    assert Tweet.objects.get(id=first).missing_since is not None
    assert leases() == {(None, 0)}


def test_an_answer_is_saved_when_the_failure_of_another_request_cannot_be_written(x, credential):
    ids = tracked(x)
    unlucky = min(ids)
    x.put("faults", [{"kind": "503_json", "match": {"ids": [str(unlucky)]}}])
    x.put("latency", {"ms": 1000})

    with cut_after(0.4), pytest.raises(OperationalError):
        refresh()

    [lost] = [ids for ids in asked(x) if unlucky in ids]
    assert measured() == set(ids) - lost
    claimed = TweetBucket.objects.exclude(lease=None).values_list("keys", flat=True)
    found = {key for keys in claimed for key in keys}
    assert found == lost, "as after a crash: they are due again when their lease is over"


class Alarm(Exception):
    pass


@contextmanager
def alarm_after(seconds):
    """Sent, and not set: a task does not send what it cannot wait for."""

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGALRM))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGALRM, before)


def test_a_task_ended_by_its_alarm_leaves_its_lease_and_the_next_asks_at_once(x, credential):
    ids = tracked(x)
    x.put("latency", {"ms": 2500})

    with alarm_after(1), pytest.raises(Alarm):
        refresh()

    assert not measured()
    [(lease, strikes)] = leases() - {(None, 0)}
    assert lease is not None
    assert strikes == 0
    x.put("latency", {"ms": 0})
    with cursor() as db:
        db.execute("UPDATE trackers_tweetbucket SET due_at = now() - interval '1 s'")
    refresh()
    assert measured() == set(ids), "though threads of the first still wait for X"
    # They shall not ask in the tests that follow.
    wait_until(lambda: len(x.log()) == 8)


def due_now():
    due = TweetBucket.objects.filter(due_at__lte=datetime.now(UTC))
    return due.values_list("keys", flat=True)


def test_requests_of_five_projects_are_full_while_enough_is_due(x):
    """A tweet stays with the project that paid for it today."""
    projects = [ProjectFactory(name=f"p{number}").pk for number in range(5)]
    for number in range(5):
        CredentialFactory(
            name=f"c{number}", app__project__name=f"p{number}", app__name=f"a{number}"
        )
    ids = tracked(x, 2000)
    refresh(2000)
    chance = random.Random(13)
    today = datetime.now(UTC).date()
    homes = {id: chance.choice(projects) for id in ids}
    for project in projects:
        share = [id for id, home in homes.items() if home == project]
        Tweet.objects.filter(id__in=share).update(paid_by=project, paid_on=today)
    due_again()
    x.delete("log")

    while sum(map(len, due_now())) >= 1000:
        refresh()

    sizes = list(map(len, asked(x)))
    assert min(sizes) >= 95
    assert sum(sizes) > 1000
    for ids_asked in asked(x):
        assert len({homes[id] for id in ids_asked}) == 1
