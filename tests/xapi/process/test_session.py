"""The session that tweepy asks through: the same requests as by the library, without its price."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trackers.xapi.client import look_up
from trackers.xapi.results import Shown
from trackers.xapi.wire.session import CANONICAL, Session, body_of, url_with_query

NOTHING = b'{"errors":[]}'
URL = CANONICAL + "/2/tweets/search/recent"
IDS = ",".join(str(10**18 + number) for number in range(100))


@pytest.fixture
def session(peer):
    session = Session(lambda method, url: "Bearer a-token", **peer.asking)
    yield session
    session.close()


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none()))
@example({"ids": IDS, "tweet.fields": "public_metrics,note_tweet"})
@example({"query": '"50% off" (#cats OR @dogs) -is:retweet ~ü🥁+%2C', "since_id": 10**18})
@example({"start_time": "2026-08-19T08:41:37Z", "dry_run": True, "until_id": None})
def test_addresses_equal_those_of_requests(params):
    assert url_with_query(URL, params) == requests.Request("GET", URL, params=params).prepare().url


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), st.text()) | st.none(), VALUES)
@example(None, {"add": [{"value": 'ü "cats"', "tag": "ours"}]})
@example({"grant_type": "refresh_token", "refresh_token": "a+b/c=&d"}, None)
@example(None, None)
def test_bodies_equal_those_of_requests(form, value):
    prepared = requests.Request("POST", URL, data=form or {}, json=value).prepare()
    sent = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body

    assert body_of(form, value) == (sent, prepared.headers.get("Content-Type", ""))


def test_a_request_is_sent_as_built_and_quoted_once(peer, session):
    asked = {"query": "100% of #cats & ü + %2C", "max_results": 10}
    peer.says_json(NOTHING)

    session.request("GET", URL, params=asked, headers={"User-Agent": "a test"})

    first, *headers = peer.heard[0].strip().split("\r\n")
    target = first.split(" ")[1]
    assert CANONICAL + target == url_with_query(URL, asked)
    assert parse_qs(urlsplit(target).query) == {name: [str(of)] for name, of in asked.items()}
    assert "User-Agent: a test" in headers
    assert {line.split(":")[0] for line in headers} == {
        *("Host", "User-Agent", "Accept-Encoding", "Accept", "Connection", "Authorization")
    }


@pytest.mark.parametrize(
    "url",
    ["https://elsewhere.example/2/tweets", CANONICAL + ".elsewhere.example/2/tweets", "/2/tweets"],
)
def test_only_x_is_asked(peer, session, url):
    with pytest.raises(ValueError, match="Only X"):
        session.get(url, params={})

    assert peer.accepted == 0


def test_each_request_on_a_connection_sends_its_own_ids(peer, bearer):
    for ids in ([20], [21, 22], [23]):
        peer.says_json(NOTHING)
        look_up(bearer, ids, **peer.asking)

    assert [parse_qs(heard.split(" ")[1].partition("?")[2])["ids"] for heard in peer.heard] == [
        *(["20"], ["21,22"], ["23"])
    ]
    assert peer.accepted == 1


def test_of_a_repeated_header_the_safer_number_counts(peer, bearer):
    headers = ("x-rate-limit-remaining: 7", "X-Rate-Limit-Remaining: 5", "x-rate-limit-limit: 9")
    peer.says_json(NOTHING, *headers, "x-rate-limit-reset: 1787128897")

    window = look_up(bearer, [20], **peer.asking).window

    assert (window.limit, window.remaining) == (9, 5)


def test_look_ups_do_not_use_requests(peer, bearer, monkeypatch):
    def fail(*args, **options):
        raise AssertionError("requests takes longer than all the rest of a look-up")

    monkeypatch.setattr(requests.Session, "send", fail)
    monkeypatch.setattr(requests.PreparedRequest, "prepare", fail)
    monkeypatch.setattr(requests.Response, "__init__", fail)
    peer.says_json(NOTHING)

    look_up(bearer, [20], **peer.asking)

    assert len(peer.heard) == 1


def test_concurrent_threads_have_their_own_connections_and_answers(fake, bearer):
    ids = fake.visible_ids(50)
    fake.tell("PUT", "latency", ms=100)
    fake.tell("PUT", "connections", idle_s=600)
    at_once = Barrier(10)

    def ask(mine):
        at_once.wait(10)
        asking = {**fake.asking, "describes": False, "usual": True}
        return [look_up(bearer, mine, **asking) for _ in range(3)]

    with ThreadPoolExecutor(10) as threads:
        parts = [ids[first : first + 5] for first in range(0, 50, 5)]
        answers = [*threads.map(ask, parts)]

    for mine, said in zip(parts, answers, strict=True):
        assert [type(one) for one in said] == [Shown] * 3
        assert [one.ids for one in said] == [mine] * 3
    assert fake.tell("GET", "connections")["opened"] == 10
