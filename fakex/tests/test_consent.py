"""The page on which X asks a user, and tokens for the code that it gives."""

import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests

from fakex.wire.consent import challenge_of

VERIFIER = "a-verifier-of-enough-letters-to-be-one-4711"
BACK = "http://127.0.0.1/back"
ASKED = {
    "response_type": "code", "client_id": "client", "redirect_uri": BACK, "state": "s",
    "scope": "tweet.read users.read offline.access", "code_challenge": challenge_of(VERIFIER),
    "code_challenge_method": "S256",
}  # fmt: skip


def authorize(x, **given):
    return requests.get(
        f"{x.url}/i/oauth2/authorize?{urlencode({**ASKED, **given})}",
        allow_redirects=False,
        timeout=10,
    )


def code_of(x, **given):
    sent = authorize(x, answer="allow", **given)
    assert sent.status_code == 302
    query = parse_qs(urlsplit(sent.headers["Location"]).query)
    assert query["state"] == ["s"]
    return query["code"][0]


def exchange(x, code, *, auth=None, **form):
    data = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": BACK,
        "code_verifier": VERIFIER, "client_id": "client", **form,
    }  # fmt: skip
    return x.session.post(f"{x.url}/2/oauth2/token", data=data, auth=auth, timeout=10)


def test_a_user_is_asked_and_allows_or_denies(x):
    shown = authorize(x)
    links = [unescape(one) for one in re.findall(r'href="([^"]+)"', shown.text)]
    assert (shown.status_code, len(links)) == (200, 2)
    denied = requests.get(x.url + links[1], allow_redirects=False, timeout=10)
    assert denied.headers["Location"] == f"{BACK}?error=access_denied&state=s"


def test_a_code_gives_tokens_once_that_are_refreshed_later(x):
    code = code_of(x)
    made = exchange(x, code).json()

    assert made["scope"] == ASKED["scope"]
    assert x.tweets(["1"], token=made["access_token"]).status_code == 200
    assert exchange(x, code).status_code == 400
    form = {"grant_type": "refresh_token", "refresh_token": made["refresh_token"]}
    again = x.session.post(
        f"{x.url}/2/oauth2/token", data={**form, "client_id": "client"}, timeout=10
    )
    assert again.status_code == 200


@pytest.mark.parametrize(
    "wrong", [{"code_verifier": "another"}, {"redirect_uri": f"{BACK}2"}, {"code": "x"}]
)
def test_a_code_is_bound_to_its_verifier_and_redirect_address(x, wrong):
    given = {"code": code_of(x), **wrong}
    refused = exchange(x, **given)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_request")


def test_without_offline_access_there_is_no_refresh_token(x):
    assert "refresh_token" not in exchange(x, code_of(x, scope="tweet.read")).json()


def test_a_user_token_reads_what_its_scopes_allow(x):
    token = exchange(x, code_of(x)).json()["access_token"]
    refused = x.get("/2/lists/1/tweets", token=token)
    assert (refused.status_code, refused.json()["detail"]) == (403, "Forbidden")
    more = exchange(x, code_of(x, scope=f"{ASKED['scope']} list.read")).json()["access_token"]
    assert x.get("/2/lists/1/tweets", token=more).status_code == 200


def test_a_client_with_a_secret_must_send_it(x):
    x.fake("POST", "clients", {"client_id": "client", "client_secret": "s3cret"})
    assert exchange(x, code_of(x)).status_code == 401
    assert exchange(x, code_of(x), auth=("client", "s3cret")).status_code == 200


@pytest.mark.parametrize(
    "wrong", [{"response_type": "token"}, {"code_challenge_method": "plain"}, {"state": ""}]
)
def test_an_invalid_authorization_request_is_refused(x, wrong):
    refused = authorize(x, **wrong)
    assert (refused.status_code, "Something went wrong" in refused.text) == (400, True)
