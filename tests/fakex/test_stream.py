"""The filtered stream over real connections: rules, lines, and everything that goes wrong."""

from __future__ import annotations

import json
import threading
import time
from email.utils import parsedate_to_datetime

import pytest
import requests

from tests.fakex.conftest import wait_until

FAR = 10**15
PATH = "/2/tweets/search/stream"
RULES = PATH + "/rules"
PROBLEMS = "https://api.twitter.com/2/problems/"


class Listener:
    """A client that reads a stream in a thread of its own until it ends."""

    def __init__(self, x, token="any", **params):
        self.lines, self.keepalives, self.ended = [], 0, ""
        self.reply = requests.get(
            x.url + PATH,
            params=params,
            headers={"Authorization": f"Bearer {token}"},
            stream=True,
            timeout=30,
        )
        if self.reply.status_code == 200:
            self._thread = threading.Thread(target=self._read)
            self._thread.start()

    def _read(self):
        try:
            for line in self.reply.iter_lines(chunk_size=None, delimiter=b"\r\n"):
                if line:
                    self.lines.append(line)
                else:
                    self.keepalives += 1
            self.ended = "closed"
        except (requests.RequestException, OSError, AttributeError) as error:
            self.ended = type(error).__name__

    @property
    def ids(self):
        return [event["data"]["id"] for event in map(json.loads, self.lines) if "data" in event]

    def close(self):
        self.reply.close()


@pytest.fixture
def listen(x):
    """Opens streams, and ends them all after the test."""
    x.fake("PUT", "stream", {"rule_delay_s": 0})
    opened = []

    def start(**options):
        opened.append(Listener(x, **options))
        return opened[-1]

    yield start
    x.fake("DELETE", "stream")
    for listener in opened:
        listener.close()


def change(x, body, **params):
    headers = {"Authorization": "Bearer any"}
    return x.session.post(x.url + RULES, json=body, params=params, headers=headers)


def add(x, *values, tag="a"):
    reply = change(x, {"add": [{"value": value, "tag": tag} for value in values]})
    assert reply.status_code == 201, reply.text
    return [rule["id"] for rule in reply.json()["data"]]


def release(x, **flow):
    """Posts of one account, which appear at once."""
    [author] = x.authors(1)
    return x.release(**{"authors": [author], "rate": 200, "tags": ["moon"], "tagged": 1, **flow})


def is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def all_visible(x, **which):
    planned = {post["id"] for post in x.visible(until_ms=FAR, **which)}
    wait_until(lambda: len(x.visible(**which)) == len(planned), seconds=20)
    return planned


def test_posts_that_match_a_rule_come_as_they_appear(x, listen):
    rule, _ = add(x, "#moon", "#sun", tag="night sky")
    listener = listen(**{"tweet.fields": "author_id,public_metrics", "expansions": "author_id"})

    release(x, count=100)

    wanted = all_visible(x, rule=rule)
    wait_until(lambda: len(listener.lines) == 100)
    assert set(listener.ids) == wanted
    event = json.loads(listener.lines[0])
    assert event["matching_rules"] == [{"id": rule, "tag": "night sky"}]
    assert event["includes"]["users"][0]["id"] == event["data"]["author_id"]
    assert event["data"]["public_metrics"]["like_count"] <= 5
    assert listener.reply.headers["transfer-encoding"] == "chunked"


def test_each_line_is_one_chunk_and_comes_at_once(x, listen):
    add(x, "#moon")
    listener = listen()
    release(x, count=20, rate=20)
    wait_until(lambda: len(listener.lines) == 20)

    visible = {post["id"]: post["visible_at_ms"] for post in x.visible()}
    sent = {line["id"]: line["at_ms"] for line in x.fake("GET", "stream")["sent"]}

    lags = [sent[id] - visible[id] for id in sent]
    assert len(lags) == 20
    assert sorted(lags)[10] < 100
    assert min(lags) >= 0


def test_what_appears_while_nobody_listens_is_not_delivered_later(x, listen):
    add(x, "#moon")
    release(x, count=20, rate=1e6)
    missed = all_visible(x)
    listener = listen()
    release(x, count=20)

    heard = all_visible(x) - missed
    wait_until(lambda: len(listener.lines) == 20)

    assert set(listener.ids) == heard


def test_nothing_comes_but_keepalives_while_nothing_matches(x, listen):
    x.fake("PUT", "stream", {"keepalive_s": 0.1})
    add(x, "#sun")
    listener = listen()
    release(x, count=20)

    wait_until(lambda: listener.keepalives >= 5)

    assert listener.lines == []


def test_rules_are_told_as_x_tells_them(x):
    before = x.get(RULES).json()
    body = {"add": [{"value": "#moon", "tag": "t"}, {"value": "cat OR dog"}]}

    added = change(x, body)

    assert set(before) == {"meta"}
    assert before["meta"]["result_count"] == 0
    assert added.status_code == 201
    tagged, untagged = added.json()["data"]
    assert (tagged["value"], tagged["tag"]) == ("#moon", "t")
    assert set(untagged) == {"id", "value"}
    summary = {"created": 2, "not_created": 0, "valid": 2, "invalid": 0}
    assert added.json()["meta"]["summary"] == summary
    assert "sent" in added.json()["meta"]
    assert x.get(RULES).json()["data"] == [tagged, untagged]
    assert x.get(RULES, ids=untagged["id"]).json()["data"] == [untagged]
    assert "data" not in x.get(RULES, token="another app").json()


def test_rules_that_are_twice_there_or_unreadable_are_errors(x):
    [known] = add(x, "#moon")

    body = change(x, {"add": [{"value": "#moon"}, {"value": "(cat"}, {"value": "dog"}]})
    only_bad = change(x, {"add": [{"value": "#moon"}]})

    duplicate, invalid = body.json()["errors"]
    assert body.status_code == 201
    assert [rule["value"] for rule in body.json()["data"]] == ["dog"]
    assert body.json()["meta"]["summary"] == {
        "created": 1,
        "not_created": 2,
        "valid": 1,
        "invalid": 2,
    }
    assert duplicate == {
        "value": "#moon",
        "id": known,
        "title": "DuplicateRule",
        "type": PROBLEMS + "duplicate-rules",
    }
    assert (invalid["title"], invalid["type"]) == (
        "UnprocessableEntity",
        PROBLEMS + "invalid-rules",
    )
    assert only_bad.status_code == 200
    assert "data" not in only_bad.json()


def test_rules_are_deleted_by_id_or_value(x):
    one, _two, three = add(x, "one", "two", "three")

    by_id = change(x, {"delete": {"ids": [one, "12345"]}})
    by_value = change(x, {"delete": {"values": ["two"]}})

    assert by_id.status_code == 200
    assert by_id.json()["meta"]["summary"] == {"deleted": 1, "not_deleted": 1}
    assert by_id.json()["errors"][0]["errors"][0]["message"] == "Rule does not exist"
    assert by_value.json()["meta"]["summary"] == {"deleted": 1, "not_deleted": 0}
    assert [rule["id"] for rule in x.get(RULES).json()["data"]] == [three]


def test_a_dry_run_changes_nothing(x):
    [rule] = add(x, "one")

    added = change(x, {"add": [{"value": "two"}]}, dry_run="true")
    deleted = change(x, {"delete": {"ids": [rule]}}, dry_run="true")

    assert added.json()["meta"]["summary"]["valid"] == 1
    assert deleted.json()["meta"]["summary"]["deleted"] == 1
    assert [rule["value"] for rule in x.get(RULES).json()["data"]] == ["one"]


@pytest.mark.parametrize("body", [{}, {"add": []}, {"add": ["x"]}, {"delete": {}}, [1]])
def test_a_change_that_is_none_is_a_bad_request(x, body):
    assert change(x, body).status_code == 400


def test_a_rule_acts_after_a_while_and_for_a_while_after_its_end(x, listen):
    add(x, "#moon")
    x.fake("PUT", "stream", {"rule_delay_s": 1})
    [slow] = add(x, "has:hashtags moon")
    listener = listen()
    release(x, count=400)
    wait_until(lambda: any(slow in line["rules"] for line in x.fake("GET", "stream")["sent"]))
    change(x, {"delete": {"ids": [slow]}})

    all_visible(x)
    wait_until(lambda: len(listener.lines) == 400)

    rules = [{rule["id"] for rule in json.loads(line)["matching_rules"]} for line in listener.lines]
    acted = [n for n, matching in enumerate(rules) if slow in matching]
    assert 100 < acted[0] < 300
    assert len(acted) > 100
    truth = {post["id"] for post in x.visible()}
    assert set(listener.ids) == truth


def test_a_rule_without_a_tag_has_none_in_the_events(x, listen):
    change(x, {"add": [{"value": "#moon"}]})
    listener = listen()
    release(x, count=3)

    wait_until(lambda: len(listener.lines) == 3)

    [rule] = json.loads(listener.lines[0])["matching_rules"]
    assert set(rule) == {"id"}


def test_without_rules_there_is_no_stream(x, listen):
    reply = listen().reply

    assert reply.status_code == 409
    assert reply.json()["connection_issue"] == "RuleConfigurationIssue"


def test_an_app_has_one_stream_at_a_time(x, listen):
    add(x, "#moon")
    first = listen()
    second = listen()

    assert (first.reply.status_code, second.reply.status_code) == (200, 429)
    assert second.reply.json()["connection_issue"] == "TooManyConnections"
    first.reply.raw._fp.fp.raw._sock.shutdown(2)
    wait_until(lambda: not x.fake("GET", "stream")["open"])
    assert listen().reply.status_code == 200


def test_a_connection_that_is_gone_may_count_for_a_while(x, listen):
    x.fake("PUT", "stream", {"linger_s": 0.5})
    add(x, "#moon")
    listen()
    x.fake("POST", "stream/cut", {})

    began = time.monotonic()
    assert listen().reply.status_code == 429
    wait_until(lambda: listen().reply.status_code == 200)
    assert time.monotonic() - began > 0.3


def test_users_tokens_and_backfill_are_refused(x, listen):
    add(x, "#moon")
    user = {"kind": "oauth2", "client_id": "c", "access_token": "u", "refresh_token": "r"}
    x.fake("POST", "credentials", user)

    assert listen(token="u").reply.status_code == 403
    assert x.get(RULES, token="u").status_code == 403
    assert listen(backfill_minutes="2").reply.status_code == 400


@pytest.mark.parametrize("half", [False, True])
def test_a_cut_stream_is_reset_perhaps_in_the_middle_of_a_line(x, listen, half):
    add(x, "#moon")
    listener = listen()
    release(x, count=5)
    wait_until(lambda: len(listener.lines) == 5)

    assert x.fake("POST", "stream/cut", {"half": half}) == {"connections": 1}

    wait_until(lambda: listener.ended != "")
    assert listener.ended in ("ChunkedEncodingError", "ConnectionError")
    assert x.fake("GET", "stream")["open"] == []


def test_a_closed_stream_ends_properly(x, listen):
    add(x, "#moon")
    listener = listen()

    x.fake("POST", "stream/close", {})

    wait_until(lambda: listener.ended == "closed")


def test_a_stalled_stream_is_silent_until_it_goes_on(x, listen):
    x.fake("PUT", "stream", {"keepalive_s": 0.05})
    add(x, "#moon")
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
    add(x, "#moon")
    listener = listen()

    x.fake("POST", "stream/stall", {"s": 0.3})
    heard = listener.keepalives

    wait_until(lambda: listener.keepalives > heard + 2)


def test_garbled_lines_are_no_json_and_the_truth_says_which_they_were(x, listen):
    add(x, "#moon")
    listener = listen()
    x.fake("POST", "stream/garble", {"lines": 2})
    release(x, count=6)
    wait_until(lambda: len(listener.lines) == 6)

    assert [is_json(line) for line in listener.lines] == [False] * 2 + [True] * 4
    how = [line["how"] for line in x.fake("GET", "stream")["sent"]]
    assert how == ["garbled"] * 2 + ["whole"] * 4
    whole = [line["id"] for line in x.fake("GET", "stream")["sent"] if line["how"] == "whole"]
    assert [json.loads(line)["data"]["id"] for line in listener.lines[2:]] == whole


def test_a_disconnect_says_why_before_the_end(x, listen):
    add(x, "#moon")
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


def test_lines_may_come_twice_and_out_of_order(x, listen):
    x.fake("PUT", "stream", {"duplicates": 0.3, "disorder": 0.3, "disorder_ms": 200})
    add(x, "#moon")
    listener = listen()
    release(x, count=200, rate=400)

    wanted = all_visible(x)
    wait_until(lambda: set(listener.ids) == wanted)

    ids = listener.ids
    assert 30 < len(ids) - len(set(ids)) < 100
    assert list(dict.fromkeys(ids)) != sorted(set(ids))


def test_who_reads_too_slowly_is_told_so_and_disconnected(x, listen):
    x.fake("PUT", "stream", {"most_waiting": 10})
    add(x, "#moon")
    listener = listen()
    x.fake("POST", "stream/stall", {})
    release(x, count=50)
    all_visible(x)

    wait_until(lambda: listener.ended == "closed")
    [error] = json.loads(listener.lines[-1])["errors"]
    assert error["disconnect_type"] == "SlowReader"
    assert {line["how"] for line in x.fake("GET", "stream")["sent"]} == {"lost"}


def test_each_post_of_the_stream_is_paid_for_once(x, listen):
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "any", "project": "live"})
    add(x, "#moon", "has:hashtags moon")
    listener = listen()
    release(x, count=30)
    wait_until(lambda: len(listener.lines) == 30)

    x.tweets(listener.ids)

    assert x.fake("GET", "projects/live")["posts"] == 30


def test_connecting_counts_in_a_window_and_meets_faults(x, listen):
    add(x, "#moon")
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
def test_a_connection_that_failed_at_once_leaves_room_for_the_next(x, listen, kind):
    add(x, "#moon")
    x.fake("PUT", "faults", [{"kind": kind, "times": 1}])

    try:
        failed = listen()
        wait_until(lambda: failed.ended != "")
    except requests.ConnectionError:
        assert kind != "truncated"

    wait_until(lambda: not x.fake("GET", "stream")["open"])
    assert listen().reply.status_code == 200


def test_a_rule_follows_an_account_through_its_new_name(x, listen):
    [author] = x.authors(1)
    x.fake("PUT", f"authors/{author}", {"username": "before"})
    add(x, "from:after")
    listener = listen()
    x.fake("PUT", f"authors/{author}", {"username": "after"})
    release(x, count=5)

    wait_until(lambda: len(listener.lines) == 5)


def test_the_stream_tells_the_date_by_xs_own_clock(x, listen):
    x.fake("PUT", "clock", {"ahead_s": 5000})
    add(x, "#moon")
    listener = listen()
    release(x, count=5)

    wait_until(lambda: len(listener.lines) == 5)

    date = parsedate_to_datetime(listener.reply.headers["date"]).timestamp()
    assert date == pytest.approx(time.time() + 5000, abs=10)


def test_fifty_cuts_lose_what_appears_in_between_and_nothing_else(x, listen):
    x.fake("PUT", "stream", {"connections": 5})
    [rule] = add(x, "#moon")
    release(x, count=4000, rate=400)
    heard = set()
    for _ in range(50):
        listener = listen()
        wait_until(lambda at=listener: len(at.lines) >= 5)
        x.fake("POST", "stream/cut", {"half": True})
        wait_until(lambda at=listener: at.ended != "")
        heard.update(json.loads(line)["data"]["id"] for line in listener.lines if is_json(line))

    state = x.fake("GET", "stream")
    whole = {line["id"] for line in state["sent"] if line["how"] == "whole"}
    assert state["open"] == []
    assert len(heard) >= 250
    assert heard <= whole < {post["id"] for post in x.visible(rule=rule, until_ms=FAR)}


def test_a_thousand_posts_a_second_come_through(x, listen):
    add(x, "#moon", "from:nobody_at_all", "cat OR dog", "lang:en #sun")
    listener = listen()
    release(x, count=3000, rate=1000)

    wait_until(lambda: len(listener.lines) == 3000, seconds=20)

    assert len(set(listener.ids)) == 3000
    took_s = (
        max(line["at_ms"] for line in x.fake("GET", "stream")["sent"])
        - min(post["visible_at_ms"] for post in x.visible())
    ) / 1000
    print(f"\n3,000 posts in {took_s:.2f} s of stream")
    assert took_s < 6
