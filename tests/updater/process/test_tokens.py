"""A batch of tweets and a user's tokens of OAuth 2.0: renewed on the way, nothing is lost."""

from datetime import timedelta

import pytest

from tests.factories import CredentialFactory
from tests.updater.process.test_refresh import claim, held, refresh, tracked, turn_clock
from tests.x import ends_in
from trackers import tasks
from trackers.credentials.models import Credential, Window
from trackers.jobs.models import Queue
from trackers.tweets.models import Tweet
from trackers.xapi.keys import Secrets

pytestmark = pytest.mark.django_db
TWEETS, TOKEN = "GET /2/tweets", "POST /2/oauth2/token"
TOKENS = {"client_id": "client-id", "access_token": "access-1", "refresh_token": "refresh-1"}


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    fakex.tell("POST", "credentials", {"kind": "oauth2", "name": "user", **TOKENS})
    fakex.put("credentials", {"strict": True})
    return fakex


def asked(x):
    return [(entry["endpoint"], entry["status"]) for entry in x.log()]


def user(**secrets):
    return CredentialFactory(name="user", kind="oauth2", secrets=Secrets({**TOKENS, **secrets}))


def test_expiring_tokens_are_renewed_and_the_batch_continues(x):
    ends_in(user(), seconds=10)
    tracked(x)

    refresh()

    assert asked(x) == [(TOKEN, 200), (TWEETS, 200)]
    assert Tweet.objects.exclude(measurements=0).count() > 80


def test_a_batch_with_an_expired_token_is_released_without_a_hold(x):
    user(access_token="an older one")
    tracked(x)

    refresh()

    assert asked(x) == [(TWEETS, 401)]
    assert held()[1] is None
    assert Queue.objects.get(name="tweet:update").failures == 0
    refresh()
    assert asked(x)[1:] == [(TOKEN, 200), (TWEETS, 200)]
    assert Tweet.objects.exclude(measurements=0).count() > 80


def test_without_new_tokens_nothing_is_sent_and_no_request_of_the_window_is_lost(x):
    ends_in(user(), seconds=10)
    x.put("faults", [{"kind": "503_json", "match": {"endpoint": TOKEN}}])
    tracked(x)

    refresh()

    assert [endpoint for endpoint, _ in asked(x)] == [TOKEN]
    window = Window.objects.get()
    assert (window.under_way, window.lost) == ([], [])


def test_other_credentials_continue_while_a_person_must_sign_in_again(x):
    ends_in(user(refresh_token="spent"), seconds=10)
    x.tell("POST", "credentials", {"kind": "bearer", "name": "app", "bearer_token": "token-of-app"})
    tracked(x)
    refresh()
    CredentialFactory(name="app")

    assert Credential.objects.get(name="user").reason.startswith("sign in again: ")
    refresh()

    assert asked(x) == [(TOKEN, 400), (TWEETS, 200)]
    assert Tweet.objects.exclude(measurements=0).count() > 80


def test_without_other_credentials_the_page_asks_to_sign_in_again(x):
    ends_in(user(refresh_token="spent"), seconds=10)
    tracked(x)
    refresh()

    tasks.update_tweets(claim())

    assert "user: sign in again: " in held()[0]
    turn_clock(timedelta(minutes=1))
