from __future__ import annotations

import time

import pytest
import requests


def test_a_rule_fires_as_often_as_it_says_and_tells_how_often_it_did(x):
    x.fake("PUT", "faults", [{"kind": "503_json", "times": 2}])

    assert [x.tweets(["1"]).status_code for _ in range(3)] == [503, 503, 200]
    assert x.fake("GET", "faults")["rules"][0]["fired"] == 2


@pytest.mark.parametrize(
    ("kind", "status", "beginning"),
    [
        ("429", 429, b'{"title":"Too Many'),
        ("503_json", 503, b'{"title":"Service Unavailable"'),
        ("503_text", 503, b"upstream"),
        ("500", 500, b'{"title":"Internal'),
        ("401", 401, b'{"title":"Unauthorized"'),
        ("403", 403, b'{"client_id"'),
        ("html", 200, b"<!DOCTYPE html>"),
        ("garbage_list", 200, b"["),
    ],
)
def test_each_kind_of_reply_looks_as_x_sends_it(x, kind, status, beginning):
    x.fake("PUT", "faults", [{"kind": kind}])

    reply = x.tweets(["1"])

    assert reply.status_code == status
    assert reply.content.startswith(beginning)
    assert x.entry()["fault"] == kind
    assert x.entry()["answers"] == {}


def test_a_refusing_fault_says_when_to_come_back(x):
    x.fake("PUT", "faults", [{"kind": "429", "params": {"reset_in": 5}}])

    headers = x.tweets(["1"]).headers

    assert headers["x-rate-limit-remaining"] == "0"
    assert 3 <= int(headers["x-rate-limit-reset"]) - time.time() <= 5


def test_a_reset_connection_has_no_answer(x):
    x.fake("PUT", "faults", [{"kind": "reset"}])

    with pytest.raises(requests.ConnectionError):
        x.tweets(["1"])

    assert x.entry()["status"] == 0


def test_a_truncated_body_is_shorter_than_promised(x):
    ids = x.live_ids(10)
    x.fake("PUT", "faults", [{"kind": "truncated"}])

    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        x.tweets(ids)


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


def test_a_rule_meets_only_what_it_matches(x):
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "b", "name": "unlucky"})
    x.fake("PUT", "faults", [{"kind": "500", "match": {"token": "unlucky", "ids": ["2"]}}])

    met = x.get("/2/tweets", ids="1,2", token="b").status_code
    other_ids = x.get("/2/tweets", ids="1", token="b").status_code
    other_token = x.get("/2/tweets", ids="1,2", token="c").status_code

    assert (met, other_ids, other_token) == (500, 200, 200)


def test_a_rule_can_wait_before_it_begins(x):
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
