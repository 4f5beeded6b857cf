"""X refuses one endpoint, or one account or list: the rest goes on, and the source says so."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.credentials.db.test_windows import let_pass
from tests.ingest.polls.steps import (
    accounts,
    add,
    asked,
    poll,
    release,
    step,
    visible,
    yielded,
)
from tests.updater.process.test_refresh import tracked, turn_clock
from trackers import tasks
from trackers.credentials.models import Credential
from trackers.ingest.sources.models import Source, SourcePoll
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.tweets.models import Tweet
from trackers.xapi.keys import Secrets

pytestmark = pytest.mark.django_db(transaction=True)
TWEETS, POSTS = "GET /2/tweets", "GET /2/users/:id/tweets"
SEARCH, LIST = "GET /2/tweets/search/recent", "GET /2/lists/:id/tweets"


def fault(x, kind, endpoint):
    x.put("faults", [{"kind": kind, "match": {"endpoint": endpoint}}])


def test_a_list_is_not_asked_for_with_tokens_that_may_not_read_lists(x):
    """X answers that with "Forbidden" and nothing else, as if the list were hidden."""
    secrets = {"client_id": "client", "access_token": "access", "refresh_token": "refresh"}
    x.tell("POST", "credentials", {"kind": "oauth2", **secrets, "scope": "tweet.read users.read"})
    Credential.objects.update(
        kind="oauth2", secrets=Secrets(secrets), scopes=["tweet.read", "users.read"]
    )
    source = add("list", "1")

    step(source)

    assert (asked(x, LIST), source.hidden_reason) == ([], "")
    assert source.problem.startswith("one: list.read was not allowed at sign-in")
    # Known to no one, as of an old sign-in: it is asked, and X refuses.
    Credential.objects.update(scopes=None)
    step(source)
    assert [entry["status"] for entry in asked(x, LIST)] == [403]


def hours_pass(hours=1):
    let_pass(3600 * hours)


def refused_for_hours(source, times=4):
    """It is polled again and again, and X refuses."""
    for _ in range(times):
        step(source)
        hours_pass()


def due_in(source):
    return SourcePoll.objects.get(key=source.pk).due_at - timezone.now()


@pytest.mark.parametrize("kind", ["403", "403_unsupported", "403_forbidden"])
def test_a_refused_search_does_not_affect_look_ups(x, kind):
    fault(x, kind, SEARCH)
    search = add("search", "#anything")
    refused_for_hours(search)
    before = len(asked(x, SEARCH))

    step(search)
    step(search)

    assert "403" in search.problem
    [one] = Credential.objects.for_lists()
    assert (one.state, one.disabled_at) == ("refused", None)
    assert SEARCH in one.reason
    assert "403" in one.reason
    tracked(x)
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))
    assert Tweet.objects.filter(measurements=1).count() > 80
    # It is asked now and then, once.
    hours_pass()
    for _ in range(3):
        step(search)
    assert len(asked(x, SEARCH)) - before <= 2
    x.delete("faults")
    hours_pass()
    poll(search)
    assert search.problem == ""
    assert Credential.objects.for_lists().get().reason == ""


def test_enabling_a_credential_retries_every_endpoint(x):
    fault(x, "403", SEARCH)
    search = add("search", "#anything")
    refused_for_hours(search)
    step(search)
    x.delete("faults")

    one = Credential.objects.get()
    one.clear_rejections()
    poll(search)

    assert search.problem == ""


@pytest.mark.parametrize("kind", ["404", "403_forbidden"])
def test_a_hidden_list_is_reported_and_affects_no_other(x, kind):
    [(author, _)] = accounts(x, 1)
    for name in ("7", "8"):
        x.put(f"lists/{name}", {"members": [author]})
    hidden = add("list", "7", backfill=timedelta(minutes=1))
    fault(x, kind, LIST)
    refused_for_hours(hidden, times=12)
    x.delete("faults")

    assert kind[:3] in hidden.problem
    assert timedelta(minutes=45) < due_in(hidden) < timedelta(minutes=75)
    assert Credential.objects.get().reason == ""
    other = add("list", "8", backfill=timedelta(minutes=1))
    poll(other)
    assert other.problem == ""
    # X once said so for eight hours of what was there: nothing is given up, and nothing is lost.
    release(x, authors=[author], count=30)
    poll(hidden)
    assert visible(x, list=7) <= yielded(hidden)
    assert (hidden.problem, hidden.failures, hidden.leaked) == ("", 0, 0)


def test_rejected_keys_stop_look_ups_too(x):
    fault(x, "401", SEARCH)

    search = add("search", "#anything")
    for _ in range(3):
        step(search)

    assert len(asked(x, SEARCH)) == 1
    assert "X refused its keys: 401" in search.problem
    tracked(x)
    tasks.update_tweets(queue.get(TWEET_UPDATE, 100))
    assert asked(x, TWEETS) == []
    x.delete("faults")
    hours_pass()
    poll(search)
    assert (search.problem, Credential.objects.get().state) == ("", "ready")


def test_a_refused_look_up_does_not_affect_sources(x):
    tracked(x)
    fault(x, "403", TWEETS)
    for _ in range(5):
        turn_clock(timedelta(hours=1))
        if batch := queue.get(TWEET_UPDATE, 100):
            tasks.update_tweets(batch)
        hours_pass()

    [account] = accounts(x, 1)
    source = add("account", account[1], account_id=account[0])
    poll(source)

    assert Source.objects.get().problem == ""
    assert Credential.objects.get().disabled_at is None
