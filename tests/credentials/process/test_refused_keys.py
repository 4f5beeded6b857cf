"""Keys that X answers 401 are asked with six times in the first hour, whatever asks, and however
short the window of the others is."""

from datetime import timedelta
from itertools import count

import pytest

from tests.credentials.db.test_windows import let_pass
from tests.factories import CredentialFactory
from tests.ingest.polls.steps import add, step
from tests.ingest.stream.listened import Listened
from tests.updater.process.test_refresh import tracked, turn_clock
from trackers import tasks
from trackers.credentials import selection
from trackers.credentials.models import Credential
from trackers.credentials.usage import ask_all_usage
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.money.models import Spending
from trackers.tweets.models import Author
from trackers.updater.authors import ask_authors

pytestmark = pytest.mark.django_db(transaction=True)
HOUR, STEP = timedelta(hours=1), timedelta(seconds=30)
SHORT = {"token": 2, "app": 2, "window": 900}
ENDPOINTS = ("GET /2/tweets", "GET /2/tweets/search/recent", "GET /2/users", "GET /2/users/by")


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    fakex.delete("projects")
    fakex.put("limits", dict.fromkeys(ENDPOINTS, SHORT))
    keys = {"kind": "bearer", "name": "refused", "bearer_token": "token-of-refused"}
    fakex.tell("POST", "credentials", keys)
    CredentialFactory(name="refused")
    return fakex


def look_ups(x):
    tracked(x)

    def ask():
        # There is always something due, whatever holds the queue.
        turn_clock(timedelta(days=30))
        if batch := queue.claim_batch(TWEET_UPDATE):
            tasks.update_tweets(batch)

    return ask


def polls(x):
    source = add("search", "#anything")

    def ask():
        life.poll_now([source.pk])
        step(source)

    return ask


def names(x):
    source = add("account", x.get("authors")["authors"][0]["username"])

    def ask():
        # However often it was named: it is asked for again.
        Source.objects.filter(pk=source.pk).update(account_id=None, failures=0)
        step(source)

    return ask


def authors(x):
    ids = count(10**15)

    def ask():
        Author.objects.create(id=next(ids))
        ask_authors(base_url=x.url, timeout=timedelta(seconds=15))

    return ask


def usage(x):
    return lambda: ask_all_usage(base_url=x.url, timeout=timedelta(seconds=15))


def stream(x):
    listened = Listened(x)
    Credential.objects.exclude(name="refused").delete()
    listened.source("#anything")
    return listened.once


def pass_an_hour(acts):
    # Five minutes less: the test itself takes a while.
    for _ in range(HOUR // STEP - 10):
        for act in acts:
            act()
        let_pass(STEP.total_seconds())
        turn_clock(STEP)


def tries(x):
    return [entry["endpoint"] for entry in x.log() if entry["status"] == 401]


@pytest.mark.parametrize(
    "prepared",
    [
        pytest.param(prepared, id=" ".join(one.__name__ for one in prepared))
        for prepared in ([look_ups], [polls], [names], [authors], [usage], [stream],
                         [look_ups, polls, names, authors, usage])
    ],
)  # fmt: skip
def test_refused_keys_are_tried_six_times_in_the_first_hour(x, prepared):
    acts = [prepare(x) for prepare in prepared]
    x.put("faults", [{"kind": "401", "match": {"token": "refused"}}])
    if stream not in prepared:
        CredentialFactory(name="with a short window")

    pass_an_hour(acts)

    assert len(tries(x)) == 6, tries(x)
    one = Credential.objects.get(name="refused")
    assert (one.state, one.refused, one.disabled_at) == ("refused", 6, None)


def test_tries_whose_workers_die_count_as_tries(x):
    """The answer to the second, third and fourth is read by nobody."""
    ask = look_ups(x)
    x.put("faults", [{"kind": "401"}])
    ask()
    at, now = [], timedelta(0)
    while now < HOUR:
        if isinstance(selection.select_credential(), selection.Selection):
            at.append(now // timedelta(minutes=1))
        let_pass(STEP.total_seconds())
        now += STEP

    assert at == [1, 3, 7, 15, 31]


def test_a_try_that_is_not_made_is_due_at_once_and_counts_nothing(x):
    ask = look_ups(x)
    x.put("faults", [{"kind": "401"}])
    ask()
    let_pass(61)

    for _ in range(3):
        selection.cancel(selection.select_credential())

    assert Credential.objects.get().refused == 1
    assert isinstance(selection.select_credential(), selection.Selection)


def test_keys_that_x_accepts_again_are_used_again(x):
    ask = look_ups(x)
    x.put("faults", [{"kind": "401"}])
    pass_an_hour([ask])
    x.delete("faults")

    pass_an_hour([ask])

    assert Credential.objects.get().state == "ready"
    assert len(tries(x)) == 6
    assert Spending.objects.exists()
