"""The filtered stream over real connections: which posts come, when and how often."""

import json
import time
from email.utils import parsedate_to_datetime

import psutil
import pytest

from fakex.tests.conftest import wait_until
from fakex.tests.posts import all_visible, release
from fakex.tests.rules import add_rule


def test_posts_that_match_a_rule_come_as_they_appear(x, listen):
    rule, _ = add_rule(x, "#moon", "#sun", tag="night sky")
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


def test_each_line_is_sent_at_once_as_one_chunk(x, listen):
    add_rule(x, "#moon")
    listener = listen()
    release(x, count=20, rate=20)
    wait_until(lambda: len(listener.lines) == 20)

    visible = {post["id"]: post["visible_at_ms"] for post in x.visible()}
    sent = {line["id"]: line["at_ms"] for line in x.fake("GET", "stream")["sent"]}

    lags = [sent[id] - visible[id] for id in sent]
    assert len(lags) == 20
    assert sorted(lags)[10] < 100
    assert min(lags) >= 0


def test_posts_appearing_without_a_listener_are_not_delivered_later(x, listen):
    add_rule(x, "#moon")
    release(x, count=20, rate=1e6)
    missed = all_visible(x)
    listener = listen()
    release(x, count=20)

    heard = all_visible(x) - missed
    wait_until(lambda: len(listener.lines) == 20)

    assert set(listener.ids) == heard


def test_only_keepalives_are_sent_while_nothing_matches(x, listen):
    x.fake("PUT", "stream", {"keepalive_s": 0.1})
    add_rule(x, "#sun")
    listener = listen()
    release(x, count=20)

    wait_until(lambda: listener.keepalives >= 5)

    assert listener.lines == []


def test_lines_can_be_repeated_and_out_of_order(x, listen):
    x.fake("PUT", "stream", {"duplicates": 0.3, "disorder": 0.3, "disorder_ms": 200})
    add_rule(x, "#moon")
    listener = listen()
    release(x, count=200, rate=400)

    wanted = all_visible(x)
    wait_until(lambda: set(listener.ids) == wanted)

    ids = listener.ids
    assert 30 < len(ids) - len(set(ids)) < 100
    assert list(dict.fromkeys(ids)) != sorted(set(ids))


def test_each_post_of_the_stream_is_paid_for_once(x, listen):
    x.fake("POST", "credentials", {"kind": "bearer", "bearer_token": "any", "project": "live"})
    add_rule(x, "#moon", "has:hashtags moon")
    listener = listen()
    release(x, count=30)
    wait_until(lambda: len(listener.lines) == 30)

    x.tweets(listener.ids)

    assert x.fake("GET", "projects/live")["posts"] == 30


def test_a_rule_follows_an_account_through_its_new_name(x, listen):
    [author] = x.authors(1)
    x.fake("PUT", f"authors/{author}", {"username": "before"})
    add_rule(x, "from:after")
    listener = listen()
    x.fake("PUT", f"authors/{author}", {"username": "after"})
    release(x, count=5)

    wait_until(lambda: len(listener.lines) == 5)


def test_the_date_of_the_stream_follows_the_own_clock(x, listen):
    x.fake("PUT", "clock", {"ahead_s": 5000})
    add_rule(x, "#moon")
    listener = listen()
    release(x, count=5)

    wait_until(lambda: len(listener.lines) == 5)

    date = parsedate_to_datetime(listener.reply.headers["date"]).timestamp()
    assert date == pytest.approx(time.time() + 5000, abs=10)


def test_a_thousand_posts_a_second_come_through(x, listen):
    add_rule(x, "#moon", "from:nobody_at_all", "cat OR dog", "lang:en #sun")
    listener = listen()
    fake = psutil.Process(x.process.pid)
    before = sum(fake.cpu_times()[:2])
    release(x, count=3000, rate=1000)

    wait_until(lambda: len(listener.lines) == 3000, seconds=60)

    assert len(set(listener.ids)) == 3000
    # Whatever else the machine does, three seconds of posts take it less than that of a processor.
    cost = sum(fake.cpu_times()[:2]) - before
    print(f"\n3,000 posts for {cost:.2f} s of a processor")
    assert cost < 3
