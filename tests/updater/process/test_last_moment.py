"""What allowed a request may end while it waits: then it is not sent, and nothing is paid."""

import signal
import threading
import time
from concurrent.futures import wait
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now

from tests.factories import CredentialFactory
from tests.updater.process.test_refresh import claim, held, refresh, tracked, turn_clock
from tests.updater.process.test_tokens import TOKEN, TOKENS, TWEETS, asked, user
from tests.x import ends_in
from trackers import tasks
from trackers.credentials import preflight, selection
from trackers.credentials.models import Window
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.models import Spending
from trackers.tweets.models import Tweet
from trackers.updater import lookups
from trackers.xapi.errors import NotReady
from tweetwatch.database import retry_while_lost

# Committed, since the time of the database stands still in a transaction.
pytestmark = pytest.mark.django_db(transaction=True)
TIMEOUT, A_WINDOW = timedelta(seconds=2), timedelta(minutes=15)


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT, settings.TASK_TIMEOUT = TIMEOUT, 6
    fakex.tell("POST", "credentials", {"kind": "oauth2", "name": "user", **TOKENS})
    fakex.put("credentials", {"strict": True})
    yield fakex
    fakex.put("latency", {"ms": 0, "token_ms": 0})


@pytest.fixture
def alarm():
    """A worker's alarm, which here only has to be there; that of the tests is set again."""
    ours = signal.getitimer(signal.ITIMER_REAL)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, *ours)


def raise_timeout(*_):
    raise TimeoutError("the alarm")


def nothing_is_spent():
    assert not Spending.objects.exclude(posts=0, posts_reserved=0).exists()
    window = Window.objects.get(endpoint=TWEETS)
    assert (window.under_way, window.lost) == ([], [])


def test_a_batch_with_a_lease_expired_during_a_renewal_is_not_paid(x):
    """A rival has claimed it by then, and asks."""
    ends_in(user(), seconds=10)
    Queue.objects.filter(name=TWEET_UPDATE).update(
        lease=timedelta(seconds=2.5), buffer_ttl=timedelta(0)
    )
    tracked(x)
    x.put("latency", {"ms": 0, "token_ms": 1500})

    tasks.update_tweets(claim())

    assert [endpoint for endpoint, _ in asked(x)] == [TOKEN]
    nothing_is_spent()
    # It is given back, and has its new tokens: the next one asks.
    x.put("latency", {"ms": 0, "token_ms": 0})
    Queue.objects.filter(name=TWEET_UPDATE).update(lease=timedelta(seconds=60))
    refresh()
    assert asked(x)[1:] == [(TWEETS, 200)]
    assert Tweet.objects.exclude(measurements=0).count() > 80


def test_a_batch_that_waited_too_long_for_its_worker_is_not_paid(x):
    x.put("credentials", {"strict": False})
    CredentialFactory(name="one")
    tracked(x)
    batch = claim()

    tasks.update_tweets(replace(batch, expires_at=batch.claimed_at + TIMEOUT / 2))

    assert asked(x) == []
    nothing_is_spent()
    assert held()[1] is None
    assert set(queue.get(TWEET_UPDATE, 100).keys) == set(batch.keys)


def test_a_reservation_older_than_its_window_is_not_used(x):
    x.put("credentials", {"strict": False})
    CredentialFactory(name="one")
    turn = selection.select_credential()
    late = replace(turn, reserved_at=time.monotonic() - 89)

    with (
        pytest.raises(NotReady, match="the reservation in its window") as raised,
        preflight.keys_for(late, base_url=x.url, timeout=TIMEOUT),
    ):
        raise AssertionError("it was sent")

    assert not raised.value.sent
    with preflight.keys_for(turn, base_url=x.url, timeout=TIMEOUT) as keys:
        assert keys == turn.credential


def test_a_task_near_its_time_limit_sends_nothing(x, alarm):
    x.put("credentials", {"strict": False})
    CredentialFactory(name="one")
    tracked(x)
    batch = claim()
    alarm(2.5)

    tasks.update_tweets(batch)

    assert asked(x) == []
    nothing_is_spent()


def test_requests_that_still_wait_for_a_thread_at_the_alarm_are_not_sent(x, alarm):
    """On a busy machine, or beside threads of the task before that X keeps waiting."""
    x.put("credentials", {"strict": False})
    CredentialFactory(name="one")
    # More than are needed: of those looked up first, the ones that X no longer shows may rest.
    tracked(x, 400)
    # A first request is sent alone, to learn X's window.
    refresh()
    turn_clock(timedelta(days=30))
    Queue.objects.filter(name=TWEET_UPDATE).update(capacity=200, batch_size=200)
    batch = claim()
    assert len(batch.keys) == 200
    sent = len(asked(x))
    free, before = threading.Event(), signal.getsignal(signal.SIGALRM)
    taken = [lookups._threads.run(free.wait) for _ in range(lookups._MAX_THREADS)]
    signal.signal(signal.SIGALRM, raise_timeout)
    try:
        alarm(4)
        with pytest.raises(TimeoutError, match="the alarm"):
            tasks.update_tweets(batch)
    finally:
        signal.signal(signal.SIGALRM, before)
        free.set()
    # What waited in line, too.
    wait([*taken, *(lookups._threads.run(free.wait) for _ in taken)])

    assert len(asked(x)) == sent


def test_a_task_near_its_time_limit_spends_no_refresh_token(x, alarm):
    ends_in(user(), seconds=10)
    tracked(x)
    batch = claim()
    alarm(2.5)

    tasks.update_tweets(batch)

    assert asked(x) == []


def test_an_answer_is_saved_as_long_as_the_task_runs(x):
    """Until then the database may come back; then its error is raised, and not an alarm's."""
    tries = []

    def save():
        tries.append(time.monotonic())
        raise OperationalError("away")

    until = time.monotonic() + 1
    with pytest.raises(OperationalError):
        retry_while_lost(save, until=until)

    assert len(tries) > 1
    assert tries[-1] > until - 1
    connection.ensure_connection()


@pytest.mark.parametrize("alone", [True, False])
def test_a_503_with_a_long_retry_after_cools_down_its_credential_alone(x, alone):
    x.put("credentials", {"strict": False})
    rests = CredentialFactory(name="rests")
    token = rests.secrets["bearer_token"]
    x.tell("POST", "credentials", {"kind": "bearer", "name": "rests", "bearer_token": token})
    x.put(
        "faults",
        [{"kind": "503_json", "params": {"retry_after": 86400}, "match": {"token": "rests"}}],
    )
    tracked(x)
    refresh()
    if not alone:
        CredentialFactory(name="well")

    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))

    because, until = held()
    if alone:
        assert [status for _, status in asked(x)] == [503]
        assert "rests: 503 Service Unavailable" in because
        assert until - Queue.objects.annotate(at=Now()).get(name=TWEET_UPDATE).at <= A_WINDOW
    else:
        assert [status for _, status in asked(x)] == [503, 200]
        assert until is None


def test_a_429_with_only_a_reset_is_waited_for(x):
    x.put("credentials", {"strict": False})
    CredentialFactory(name="one")
    params = {"headers": "reset", "reset_in": 30}
    x.put("faults", [{"kind": "429", "params": params}])
    tracked(x)

    for _ in range(3):
        if batch := queue.get(TWEET_UPDATE, 100):
            tasks.update_tweets(batch)

    assert [status for _, status in asked(x)] == [429]
    assert "429 Too Many Requests" in held()[0]
