"""Streams that are refused, break, fall silent or end, and what that costs."""

import json
import time

import pytest
import requests

from fakex.tests.conftest import wait_until
from fakex.tests.listener import PATH, is_json
from fakex.tests.posts import FAR, all_visible, release
from fakex.tests.rules import PROBLEMS, RULES, add_rule


def test_an_app_has_one_stream_at_a_time(x, listen):
    add_rule(x, "#moon")
    first = listen()
    second = listen()

    assert (first.reply.status_code, second.reply.status_code) == (200, 429)
    assert second.reply.json()["connection_issue"] == "TooManyConnections"
    first.reply.raw._fp.fp.raw._sock.shutdown(2)
    wait_until(lambda: not x.fake("GET", "stream")["open"])
    assert listen().reply.status_code == 200


def test_a_closed_connection_can_count_for_a_while(x, listen):
    x.fake("PUT", "stream", {"linger_s": 0.5})
    add_rule(x, "#moon")
    listen()
    x.fake("POST", "stream/cut", {})

    began = time.monotonic()
    assert listen().reply.status_code == 429
    wait_until(lambda: listen().reply.status_code == 200)
    assert time.monotonic() - began > 0.3


def test_user_tokens_and_backfill_are_refused(x, listen):
    add_rule(x, "#moon")
    user = {"kind": "oauth2", "client_id": "c", "access_token": "u", "refresh_token": "r"}
    x.fake("POST", "credentials", user)

    assert listen(token="u").reply.status_code == 403
    assert x.get(RULES, token="u").status_code == 403
    assert listen(backfill_minutes="2").reply.status_code == 400


def test_connecting_counts_in_a_window_and_faults_apply(x, listen):
    add_rule(x, "#moon")
    x.fake("PUT", "faults", [{"kind": "503_json", "match": {"endpoint": f"GET {PATH}"}}])
    assert listen().reply.status_code == 503
    x.fake("DELETE", "faults")
    x.fake("PUT", "limits", {f"GET {PATH}": {"token": None, "app": 1}})

    statuses = []
    for _ in range(2):
        statuses.append(listen().reply.status_code)
        x.fake("POST", "stream/cut", {})
        wait_until(lambda: not x.fake("GET", "stream")["open"])

    assert statuses == [200, 429]


@pytest.mark.parametrize("kind", ["reset", "lose_answer", "truncated"])
def test_a_failed_connection_leaves_room_for_the_next(x, listen, kind):
    add_rule(x, "#moon")
    x.fake("PUT", "faults", [{"kind": kind, "times": 1}])

    try:
        failed = listen()
        wait_until(lambda: failed.ended != "")
    except requests.ConnectionError:
        assert kind != "truncated"

    wait_until(lambda: not x.fake("GET", "stream")["open"])
    assert listen().reply.status_code == 200


@pytest.mark.parametrize("half", [False, True])
def test_a_cut_stream_is_reset_even_within_a_line(x, listen, half):
    add_rule(x, "#moon")
    listener = listen()
    release(x, count=5)
    wait_until(lambda: len(listener.lines) == 5)

    assert x.fake("POST", "stream/cut", {"half": half}) == {"connections": 1}

    wait_until(lambda: listener.ended != "")
    assert listener.ended in ("ChunkedEncodingError", "ConnectionError")
    assert x.fake("GET", "stream")["open"] == []


def test_a_closed_stream_ends_properly(x, listen):
    add_rule(x, "#moon")
    listener = listen()

    x.fake("POST", "stream/close", {})

    wait_until(lambda: listener.ended == "closed")


def test_a_stalled_stream_is_silent_until_it_goes_on(x, listen):
    x.fake("PUT", "stream", {"keepalive_s": 0.05})
    add_rule(x, "#moon")
    listener = listen()
    wait_until(lambda: listener.keepalives > 1)

    x.fake("POST", "stream/stall", {})
    heard = listener.keepalives
    release(x, count=20)
    all_visible(x)
    wait_until(lambda: x.fake("GET", "stream")["open"][0]["waiting"] == 20)
    assert (listener.lines, listener.keepalives - heard) == ([], pytest.approx(0, abs=1))
    x.fake("POST", "stream/resume", {})

    wait_until(lambda: len(listener.lines) == 20)


def test_a_stall_can_be_for_some_seconds(x, listen):
    x.fake("PUT", "stream", {"keepalive_s": 0.05})
    add_rule(x, "#moon")
    listener = listen()

    x.fake("POST", "stream/stall", {"s": 0.3})
    heard = listener.keepalives

    wait_until(lambda: listener.keepalives > heard + 2)


def test_garbled_lines_are_no_json_and_are_recorded(x, listen):
    add_rule(x, "#moon")
    listener = listen()
    x.fake("POST", "stream/garble", {"lines": 2})
    release(x, count=6)
    wait_until(lambda: len(listener.lines) == 6)

    assert [is_json(line) for line in listener.lines] == [False] * 2 + [True] * 4
    how = [line["how"] for line in x.fake("GET", "stream")["sent"]]
    assert how == ["garbled"] * 2 + ["whole"] * 4
    whole = [line["id"] for line in x.fake("GET", "stream")["sent"] if line["how"] == "whole"]
    assert [json.loads(line)["data"]["id"] for line in listener.lines[2:]] == whole


def test_a_disconnect_message_says_why(x, listen):
    add_rule(x, "#moon")
    listener = listen()

    x.fake("POST", "stream/disconnect", {})

    wait_until(lambda: listener.ended == "closed")
    [error] = json.loads(listener.lines[-1])["errors"]
    assert error == {
        "title": "operational-disconnect",
        "disconnect_type": "UpstreamOperationalDisconnect",
        "detail": "This stream has been disconnected upstream for operational reasons.",
        "type": PROBLEMS + "operational-disconnect",
    }


def test_next_connections_can_be_disconnected_at_once(x, listen):
    add_rule(x, "#moon")
    x.fake("POST", "stream/disconnect", {"type": "ForceDisconnect", "next": 2})

    collected = []
    for _ in range(2):
        listener = listen()
        wait_until(lambda at=listener: at.ended == "closed")
        collected += [json.loads(line)["errors"][0]["disconnect_type"] for line in listener.lines]
        wait_until(lambda: not x.fake("GET", "stream")["open"])
    listen()

    assert collected == ["ForceDisconnect"] * 2
    assert x.fake("GET", "stream")["farewells_next"] == 0
    assert len(x.fake("GET", "stream")["open"]) == 1


def test_a_slow_reader_gets_a_message_and_is_disconnected(x, listen):
    x.fake("PUT", "stream", {"most_waiting": 10})
    add_rule(x, "#moon")
    listener = listen()
    x.fake("POST", "stream/stall", {})
    release(x, count=50)
    all_visible(x)

    wait_until(lambda: listener.ended == "closed")
    [error] = json.loads(listener.lines[-1])["errors"]
    assert error["disconnect_type"] == "SlowReader"
    assert {line["how"] for line in x.fake("GET", "stream")["sent"]} == {"lost"}


def test_fifty_cuts_lose_only_posts_appearing_in_between(x, listen):
    x.fake("PUT", "stream", {"connections": 5})
    [rule] = add_rule(x, "#moon")
    # More than fifty rounds need on any machine.
    release(x, count=100_000, rate=400)
    heard = set()
    for _ in range(50):
        listener = listen()
        wait_until(lambda at=listener: len(at.lines) >= 5)
        x.fake("POST", "stream/cut", {"half": True})
        wait_until(lambda at=listener: at.ended != "")
        heard.update(json.loads(line)["data"]["id"] for line in listener.lines if is_json(line))
    x.fake("DELETE", "posts/0")

    state = x.fake("GET", "stream")
    whole = {line["id"] for line in state["sent"] if line["how"] == "whole"}
    assert state["open"] == []
    assert len(heard) >= 250
    assert heard <= whole < {post["id"] for post in x.visible(rule=rule, until_ms=FAR)}
