"""What a user allowed at sign-in, compared with what an endpoint needs before it is asked."""

import pytest

from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.describe import describe
from trackers.credentials.models import Credential
from trackers.xapi.endpoints import (
    LIST_POSTS,
    LOOKUP_BY_IDS,
    SIGN_IN_SCOPES,
    USAGE_COUNT,
    endpoints_closed_to,
)

OLD_SIGN_IN = ["tweet.read", "users.read", "offline.access"]
WHY = (
    "list.read was not allowed at sign-in, and GET /2/lists/:id/tweets needs it. "
    "Sign in with X again."
)


def user(name, scopes):
    secrets = {"client_id": "c", "access_token": f"access-of-{name}", "refresh_token": "r"}
    return save_credential(name, kind="oauth2", secrets=secrets, scopes=scopes)


def chosen(endpoint_of, **given):
    turn = selection.select_credential(endpoint_of, **given)
    return turn.credential.name if isinstance(turn, selection.Selection) else turn.why


def test_an_endpoint_is_not_asked_with_a_token_that_may_not_read_it():
    user("reader", OLD_SIGN_IN)

    assert chosen(LOOKUP_BY_IDS) == "reader"
    assert chosen(LIST_POSTS) == f"reader: {WHY}"
    assert chosen(LIST_POSTS, by_hand=True) == f"reader: {WHY}"


def test_another_credential_that_may_read_it_is_asked():
    user("a", OLD_SIGN_IN)
    user("b", [*OLD_SIGN_IN, "list.read"])

    assert chosen(LIST_POSTS) == "b"


@pytest.mark.parametrize("kind", ["oauth2", "bearer"])
def test_unknown_scopes_refuse_nothing(kind):
    if kind == "oauth2":
        user("old", None)
    else:
        save_credential("old")

    assert chosen(LIST_POSTS) == "old"
    assert describe(Credential.objects.get())["reason"] == ""


def test_the_credential_names_what_its_user_did_not_allow():
    user("reader", OLD_SIGN_IN)

    row = describe(Credential.objects.for_lists().get())

    assert (row["state"], row["reason"]) == ("ready", WHY)


def test_a_disabled_credential_is_not_named_for_its_scopes():
    user("reader", OLD_SIGN_IN)
    Credential.objects.update(disabled_at="2026-01-01T00:00Z", disabled_reason="by hand")

    assert "No credential is enabled (reader: by hand)" in chosen(LIST_POSTS)


def test_all_that_is_missing_is_named_once():
    user("writer", ["tweet.read"])

    assert Credential.objects.get().not_allowed.startswith(
        "list.read and users.read were not allowed at sign-in, and GET /2/lists/:id/tweets, "
    )
    assert "GET /2/tweets needs it." in chosen(LOOKUP_BY_IDS)


def test_sign_in_asks_for_all_that_the_endpoints_need():
    assert endpoints_closed_to(SIGN_IN_SCOPES) == {}


def test_an_endpoint_for_apps_needs_no_scope():
    save_credential("app")

    assert chosen(USAGE_COUNT) == "app"
