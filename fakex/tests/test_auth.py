import pytest
import requests
from requests_oauthlib import OAuth1

KEYS = {
    "consumer_key": "ck",
    "consumer_secret": "cs",
    "access_token": "12-at",
    "access_token_secret": "ats",
}


def signed(x, method: str, path: str, *, base: str = "", data=None, host=None, **keys):
    """Sign for an address, its own when none is given, and send to the fake."""
    keys, base = {**KEYS, **keys}, base or x.url
    auth = OAuth1(
        keys["consumer_key"],
        keys["consumer_secret"],
        keys["access_token"],
        keys["access_token_secret"],
    )
    prepared = requests.Request(method, base + path, auth=auth, data=data).prepare()
    prepared.url = prepared.url.replace(base, x.url)
    if host:
        prepared.headers["Host"] = host
    return x.session.send(prepared)


def test_a_signature_over_the_requested_address_is_accepted(x):
    x.fake("POST", "credentials", {"kind": "oauth1", "name": "us", "app": "ours", **KEYS})
    ids = ",".join(x.live_ids(3))

    reply = signed(x, "GET", f"/2/tweets?ids={ids}&tweet.fields=created_at%2Cauthor_id")

    assert reply.status_code == 200
    assert len(reply.json()["data"]) == 3
    assert x.entry()["token"] == "us"


@pytest.mark.parametrize("base", ["https://api.twitter.com", "https://api.x.com", "other port"])
def test_a_signature_over_another_address_is_refused(x, base):
    x.fake("POST", "credentials", {"kind": "oauth1", **KEYS})
    if base == "other port":
        base = x.url.rpartition(":")[0]

    assert signed(x, "GET", "/2/tweets?ids=1", base=base).status_code == 401


def test_the_host_header_decides_the_requested_host(x):
    x.fake("POST", "credentials", {"kind": "oauth1", **KEYS})
    base = "http://api.x.com"

    reply = signed(x, "GET", "/2/tweets?ids=1", base=base, host="api.x.com")

    assert reply.status_code == 200


def test_the_canonical_address_can_be_set(x):
    x.fake("POST", "credentials", {"kind": "oauth1", **KEYS})
    x.fake("PUT", "world", {"canonical_base": "https://api.x.com"})

    old, new = (
        signed(x, "GET", "/2/tweets?ids=1", base=f"https://api.{host}.com").status_code
        for host in ("twitter", "x")
    )

    x.fake("PUT", "world", {"canonical_base": ""})
    assert (old, new) == (401, 200)


@pytest.mark.parametrize("wrong", [*KEYS])
def test_any_wrong_key_is_unauthorized(x, wrong):
    x.fake("POST", "credentials", {"kind": "oauth1", **KEYS})

    reply = signed(x, "GET", "/2/tweets?ids=1", **{wrong: "other"})

    assert reply.status_code == 401
    assert "x-rate-limit-limit" not in reply.headers


def test_form_fields_are_part_of_the_signature(x):
    x.fake("POST", "credentials", {"kind": "oauth1", **KEYS})
    path, form = "/1.1/statuses/lookup.json", {"id": ",".join(x.live_ids(2))}

    good = signed(x, "POST", path, data=form)
    bad = signed(x, "POST", path, data=form, access_token_secret="other")

    assert len(good.json()) == 2
    assert bad.status_code == 401
    assert bad.json()["errors"][0]["code"] == 32


def test_a_request_without_credentials_is_unauthorized_in_both_versions(x):
    assert x.tweets(["1"], token="").status_code == 401
    old = x.get("/1.1/statuses/lookup.json", id="1", token="")
    assert (old.status_code, old.json()["errors"][0]["code"]) == (400, 215)


def test_the_log_names_a_token_without_its_secret(x):
    x.tweets(["1"], token="a-secret-token")

    entry = x.entry()

    assert len(entry["token"]) == 8
    assert "secret" not in str(entry)
