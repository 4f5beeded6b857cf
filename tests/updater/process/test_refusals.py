"""A request that X refuses, or does not answer: its tweets wait a while, and nobody is isolated."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests import queues
from tests.credentials.db.test_windows import let_pass
from tests.factories import CredentialFactory
from tests.updater.process.test_refresh import claim, held, refresh, tracked, turn_clock, x
from trackers import tasks
from trackers.credentials import acts, selection
from trackers.credentials.check import check
from trackers.credentials.models import Credential
from trackers.history import by_command
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import QueueCounters
from trackers.money.models import Project
from trackers.tweets.models import Author, Tweet
from trackers.updater.authors import ask_authors
from trackers.updater.models import TweetUpdate

__all__ = ["x"]
pytestmark = pytest.mark.django_db
HOLDING_NOTHING = ("", None)


@pytest.mark.parametrize(
    "kind", ["503_json", "503_text", "500", "html", "garbage_list", "reset", "truncated"]
)
def test_a_failed_request_releases_the_batch_with_a_delay(x, kind):
    ids = tracked(x)
    x.put("faults", [{"kind": kind}])

    refresh()

    waits = {row.due_at - timezone.now() for row in TweetUpdate.objects.all()}
    assert len(waits) > 0
    assert all(timedelta(seconds=3) < wait < timedelta(seconds=7) for wait in waits)
    assert queues.states(TweetUpdate) == {(None, 0)}
    assert TweetUpdate.objects.count() == len(ids)
    assert held() == HOLDING_NOTHING
    assert not Tweet.objects.exclude(measurements=0).exists()
    assert QueueCounters.objects.get().failed == 100


def test_three_failures_in_a_row_hold_the_queue_ever_longer_until_a_success(x):
    tracked(x)
    x.put("faults", [{"kind": "503_json"}])
    waits = []
    for _ in range(6):
        refresh()
        until = held()[1]
        waits.append(0 if until is None else (until - timezone.now()).total_seconds())
        turn_clock(timedelta(minutes=20))

    assert waits[:2] == [0, 0]
    for wait, expected in zip(waits[2:], (5, 10, 20, 40), strict=True):
        assert 0.75 * expected - 3 < wait < 1.25 * expected + 1
    x.delete("faults")
    refresh()
    assert Queue.objects.get(name="tweet:update").failures == 0


def test_an_hour_of_outage_isolates_no_tweet(x):
    ids = tracked(x, 50)
    x.put("faults", [{"kind": "503_json"}])
    outage = timedelta(0)
    while outage < timedelta(hours=1):
        claim_and_refresh()
        turn_clock(timedelta(minutes=2))
        outage += timedelta(minutes=2)
    assert len(x.log()) < 40
    assert not TweetUpdate.objects.exclude(strikes=0).exists()

    x.delete("faults")
    turn_clock(timedelta(hours=1))
    assert sorted(refresh().keys) == sorted(ids)
    assert Tweet.objects.exclude(measurements=0).count() > 40


def claim_and_refresh():
    batch = claim()
    if batch:
        tasks.update_tweets(batch)
    return batch


def test_an_exhausted_window_holds_the_queue_until_its_reset(x):
    tracked(x)
    x.put("faults", [{"kind": "429", "params": {"reset_in": 300}}])

    while claim_and_refresh():
        pass

    because, until = held()
    assert "used up" in because
    assert 290 < (until - timezone.now()).total_seconds() <= 301
    assert len(x.log()) == 1
    assert queues.states(TweetUpdate) == {(None, 0)}


@pytest.mark.parametrize(
    "fault", [{"kind": "401"}, {"kind": "403"}, {"kind": "429", "params": {"headers": False}}]
)
def test_a_refused_credential_stops_asking(x, fault):
    tracked(x)
    x.put("faults", [fault])

    for _ in range(20):
        if not claim_and_refresh():
            break

    assert len(x.log()) <= 3
    assert held()[1] is not None
    assert Credential.objects.get().disabled_at is None
    assert queues.states(TweetUpdate) == {(None, 0)}


@pytest.mark.parametrize("kind", ["401", "403"])
def test_a_hold_says_that_x_refuses_the_credential_until_a_person_enables_it(x, kind):
    """A full batch with several tiers: its requests are spread over the window."""
    x.put("limits", {"GET /2/tweets": {"token": 300, "app": 300, "window": 900}})
    tracked(x, 300)
    refresh()
    x.put("faults", [{"kind": kind}])
    for _ in range(4):
        turn_clock(timedelta(minutes=20))
        let_pass(1200)
        claim_and_refresh()
    claim_and_refresh()

    because, until = held()
    assert kind in because
    assert "tried again at" in because
    assert until - timezone.now() < timedelta(seconds=20)

    x.delete("faults")
    Queue.objects.filter(name="tweet:update").update(failures=9)
    acts.enable([Credential.objects.get()], by_command())
    assert held()[1] is None
    # Its turn in the window.
    let_pass(20)
    assert claim_and_refresh() is not None
    assert x.log()[-1]["status"] == 200


@pytest.mark.parametrize("fault", ["402_credits", "401"])
def test_a_refusal_of_authors_or_of_a_check_stops_look_ups_too(x, fault):
    x.put("faults", [{"kind": fault}])
    Author.objects.create(id=x.get("authors")["authors"][0]["id"])
    asking = {"base_url": x.url, "timeout": timedelta(seconds=5)}

    ask_authors(**asking)
    assert isinstance(selection.select_credential(), selection.NoRoom | selection.NoCredential)

    Credential.objects.get().clear_rejections()
    Project.objects.update(depleted_until=None, depletions=0)
    check(Credential.objects.get(), **asking)
    assert isinstance(selection.select_credential(), selection.NoRoom | selection.NoCredential)
    assert len(x.log()) == 2


def test_another_credential_replaces_a_refused_one_at_once(x):
    CredentialFactory(name="two")
    tracked(x)
    x.put("faults", [{"kind": "401", "times": 1}])

    refresh()
    refresh()

    assert [entry["status"] for entry in x.log()] == [401, 200]
    assert len({entry["token"] for entry in x.log()}) == 2
    assert held() == HOLDING_NOTHING


def test_without_a_credential_the_queue_is_held_with_a_reason(x):
    Credential.objects.all().delete()
    tracked(x)

    refresh()

    because, until = held()
    assert "credential add" in because
    assert until > timezone.now()
    assert claim() is None
    assert x.log() == []
