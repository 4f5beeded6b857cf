import socket
import time
from urllib.parse import urlsplit

import pytest
import requests


def test_a_rule_fires_its_number_of_times_and_counts_them(x):
    x.fake("PUT", "faults", [{"kind": "503_json", "times": 2}])

    assert [x.tweets(["1"]).status_code for _ in range(3)] == [503, 503, 200]
    assert x.fake("GET", "faults")["rules"][0]["fired"] == 2


TOO_MANY = b'{"title":"Too Many Requests","detail":"Too Many Requests","type":"about:blank",'
BODIES = {
    "429": (429, TOO_MANY),
    "429_past": (429, TOO_MANY),
    "429_twice": (429, TOO_MANY),
    "429_edge": (429, b"error code"),
    "429_per_second": (429, TOO_MANY),
    "429_cap": (429, b'{"account_id":1700000000000000000,"product_name":"standard-basic",'),
    "429_connections": (429, b'{"title":"ConnectionException",'),
    "402_credits": (402, b'{"account_id":1700000000000000000,"title":"CreditsDepleted",'),
    "402_depleted": (402, b'{"detail":"credits depleted","status":402,'),
    "503_json": (503, b'{"title":"Service Unavailable"'),
    "503_text": (503, b"upstream"),
    "500": (500, b'{"title":"Internal'),
    "401": (401, b'{"title":"Unauthorized"'),
    "403": (403, b'{"client_id"'),
    "403_unsupported": (403, b'{"title":"Unsupported Authentication"'),
    "403_forbidden": (403, b'{"title":"Forbidden"'),
    "404": (404, b'{"title":"Not Found"'),
    "html": (200, b"<!DOCTYPE html>"),
    "garbage_list": (200, b"["),
}
# The last part of the problem's type, for those of which X's host is a part.
TYPES = {
    "429_cap": "usage-capped",
    "429_connections": "streaming-connection",
    "402_credits": "credits",
    "402_depleted": "credits-depleted",
    "403": "client-forbidden",
    "403_unsupported": "unsupported-authentication",
}


@pytest.mark.parametrize("kind", BODIES)
def test_each_kind_of_fault_has_the_form_of_x(x, kind):
    x.fake("PUT", "faults", [{"kind": kind}])

    reply = x.tweets(["1"], **{"tweet.fields": "public_metrics"})

    status, beginning = BODIES[kind]
    assert reply.status_code == status
    assert reply.content.startswith(beginning)
    assert x.entry()["fault"] == kind
    assert x.entry()["answers"] == {}


@pytest.mark.parametrize("host", ["api.twitter.com", "api.x.com"])
@pytest.mark.parametrize("kind", TYPES)
def test_a_problem_type_can_have_either_host(x, kind, host):
    x.fake("PUT", "world", {"problem_host": host})
    x.fake("PUT", "faults", [{"kind": kind, "times": 1}, {"kind": kind, "params": {"host": "h"}}])

    types = [x.tweets(["1"]).json()["type"] for _ in range(2)]

    path = f"/2/problems/{TYPES[kind]}"
    assert types == [f"https://{host}{path}", f"https://h{path}"]


@pytest.mark.parametrize("kind", ["429_per_second", "429_cap", "429_connections"])
def test_only_a_429_of_a_window_exhausts_it(x, kind):
    x.fake("PUT", "faults", [{"kind": kind}])

    assert int(x.tweets(["1"]).headers["x-rate-limit-remaining"]) > 0


@pytest.mark.parametrize("kind", ["401", "429_edge", "500", "503_json", "503_text"])
def test_a_fault_without_rate_headers(x, kind):
    x.fake("PUT", "faults", [{"kind": kind}])

    assert not [name for name in x.tweets(["1"]).headers if name.startswith("x-rate-limit")]


def test_a_fault_can_have_a_retry_after(x):
    x.fake("PUT", "faults", [{"kind": "503_json", "params": {"retry_after": 7}}])

    assert x.tweets(["1"]).headers["retry-after"] == "7"


@pytest.mark.parametrize(("share", "denied"), [(0.9, 18), (0.29, 5), (1, 20), (0, 0)])
def test_a_burst_denies_its_share_of_a_batch(x, share, denied):
    ids = x.live_ids(20)
    x.fake("PUT", "faults", [{"kind": "not_found", "times": 1, "params": {"share": share}}])

    burst, after = x.tweets(ids).json(), x.tweets(ids).json()

    errors = burst.get("errors", [])
    assert (len(errors), len(burst.get("data", []))) == (denied, 20 - denied)
    assert {error["title"] for error in errors} <= {"Not Found Error"}
    assert len(after["data"]) == 20


def test_a_broken_post_uses_the_vocabulary_of_its_request(x):
    [tweet_id] = x.live_ids(1)
    x.fake("PUT", "faults", [{"kind": "broken"}])

    [post] = x.tweets([tweet_id], **{"post.fields": "public_metrics"}).json()["data"]

    assert post["public_metrics"]["repost_count"] == "many"
    assert "retweet_count" not in post["public_metrics"]


def test_a_refusal_has_a_retry_after(x):
    x.fake("PUT", "faults", [{"kind": "429", "params": {"reset_in": 5}}])

    headers = x.tweets(["1"]).headers

    assert headers["x-rate-limit-remaining"] == "0"
    assert 3 <= int(headers["x-rate-limit-reset"]) - time.time() <= 5


@pytest.mark.parametrize("params", [{}, {"reset_in": 0}, {"reset": 0}])
def test_a_429_can_have_a_past_reset(x, params):
    x.fake("PUT", "faults", [{"kind": "429_past", "params": params}])

    headers = x.tweets(["1"]).headers

    assert headers["x-rate-limit-remaining"] == "0"
    assert int(headers["x-rate-limit-reset"]) <= time.time()


def test_rate_headers_can_be_repeated(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 900, "app": None}})
    x.fake("PUT", "faults", [{"kind": "429_twice"}])

    assert x.tweets(["1"]).headers["x-rate-limit-limit"] == "900, 900"


def test_a_reset_connection_has_no_answer(x):
    x.fake("PUT", "faults", [{"kind": "reset"}])

    with pytest.raises(requests.ConnectionError):
        x.tweets(["1"])

    assert x.entry()["status"] == 0


def test_a_lost_answer_was_still_computed(x):
    x.fake("PUT", "limits", {"GET /2/tweets": {"token": 9, "app": None}})
    x.fake("PUT", "faults", [{"kind": "lose_answer", "times": 1}])

    with pytest.raises(requests.ConnectionError):
        x.tweets(["1"], token="lost")

    assert (x.entry()["status"], x.entry()["fault"]) == (0, "lose_answer")
    assert x.tweets(["1"], token="lost").headers["x-rate-limit-remaining"] == "7"


def test_a_truncated_body_is_shorter_than_promised(x):
    ids = x.live_ids(10)
    x.fake("PUT", "faults", [{"kind": "truncated"}])

    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        x.tweets(ids)


def test_a_redirect_leads_to_the_other_name_of_x_or_a_chosen_address(x):
    x.fake(
        "PUT",
        "faults",
        [{"kind": "redirect", "times": 1}, {"kind": "redirect", "params": {"to": "h:"}}],
    )
    asked, headers = f"{x.url}/2/tweets?ids=1", {"Authorization": "Bearer any"}

    replies = [x.session.get(asked, headers=headers, allow_redirects=False) for _ in range(2)]

    assert [reply.status_code for reply in replies] == [308, 308]
    said = [reply.headers["location"] for reply in replies]
    assert said == ["https://api.x.com/2/tweets", "h:/2/tweets"]


def test_a_bad_chunk_has_a_negative_size(x):
    ids = x.live_ids(10)
    x.fake("PUT", "faults", [{"kind": "bad_chunk"}])
    address = urlsplit(x.url)

    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        asked = f"GET /2/tweets?ids={','.join(ids)} HTTP/1.1"
        raw.sendall(f"{asked}\r\nHost: x\r\nAuthorization: Bearer any\r\n\r\n".encode())
        said = b"".join(iter(lambda: raw.recv(65536), b""))

    assert b"transfer-encoding: chunked" in said.lower()
    assert said.endswith(b"\r\n-5\r\n\r\n")


def test_slowness_and_latency_add_up(x):
    x.fake("PUT", "latency", {"ms": 100})
    x.fake("PUT", "faults", [{"kind": "slow", "params": {"ms": 200}}])

    x.tweets(["1"])

    entry = x.entry()
    assert entry["done_ms"] - entry["at_ms"] >= 149
    assert entry["status"] == 200


def test_ids_can_be_left_out_denied_or_spoilt(x):
    omitted, denied, broken, bare, whole = x.live_ids(5)
    x.fake(
        "PUT",
        "faults",
        [
            {"kind": "omit", "match": {"ids": [omitted]}},
            {"kind": "not_found", "match": {"ids": [denied]}},
            {"kind": "broken", "match": {"ids": [broken]}},
            {"kind": "broken", "match": {"ids": [bare]}, "params": {"missing": True}},
        ],
    )

    asked = [omitted, denied, broken, bare, whole]
    body = x.tweets(asked, **{"tweet.fields": "public_metrics"}).json()

    data = {tweet["id"]: tweet for tweet in body["data"]}
    assert set(data) == {broken, bare, whole}
    assert data[broken]["public_metrics"]["retweet_count"] == "many"
    assert "public_metrics" not in data[bare]
    assert [error["value"] for error in body["errors"]] == [denied]
    answers = x.entry()["answers"]
    assert isinstance(answers.pop(whole), dict)
    assert answers == {omitted: "omitted", denied: "not_found", broken: "broken", bare: "broken"}


def test_a_fault_affects_only_matching_requests(x):
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "b", "name": "unlucky"})
    x.fake("PUT", "faults", [{"kind": "500", "match": {"token": "unlucky", "ids": ["2"]}}])

    met = x.get("/2/tweets", ids="1,2", token="b").status_code
    other_ids = x.get("/2/tweets", ids="1", token="b").status_code
    other_token = x.get("/2/tweets", ids="1,2", token="c").status_code

    assert (met, other_ids, other_token) == (500, 200, 200)


def test_a_fault_can_begin_later(x):
    x.fake("PUT", "faults", [{"kind": "500", "after_ms": 60_000}])

    assert x.tweets(["1"]).status_code == 200


def test_an_unknown_kind_is_refused(x):
    reply = x.session.put(f"{x.url}/_fake/faults", json=[{"kind": "meteor"}])

    assert reply.status_code == 400
    assert "meteor" in reply.json()["error"]


def test_fixed_metrics_and_states_can_be_set_and_lifted(x):
    [tweet_id] = x.live_ids(1)
    false_id = str(int(tweet_id) ^ 1)
    x.fake("PUT", f"tweets/{tweet_id}", {"metrics": {"likes": 77, "retweet_count": 0}})
    x.fake("PUT", f"tweets/{false_id}", {"state": "live"})

    fixed, invented = x.tweets([tweet_id, false_id], **{"tweet.fields": "public_metrics"}).json()[
        "data"
    ]
    x.fake("DELETE", f"tweets/{tweet_id}")
    x.fake("DELETE", f"tweets/{false_id}")
    after = x.tweets([tweet_id, false_id]).json()

    assert fixed["public_metrics"]["like_count"] == 77
    assert fixed["public_metrics"]["retweet_count"] == 0
    assert invented["id"] == false_id
    assert [tweet["id"] for tweet in after["data"]] == [tweet_id]
    assert [error["value"] for error in after["errors"]] == [false_id]
