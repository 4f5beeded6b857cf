# ruff: noqa: E501 - bodies stay in one piece
"""Pages of posts: what goes over the wire, what X was seen to answer, and what no body breaks."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trackers.xapi.client import look_up, look_up_accounts
from trackers.xapi.errors import (
    BadRequest,
    Garbage,
    RateLimited,
    StaleSinceId,
    Unavailable,
    XError,
)
from trackers.xapi.page import Ask
from trackers.xapi.parse.timeline import page_of, read_named, stale_since_id
from trackers.xapi.results import Account, Figures, Post
from trackers.xapi.timelines import look_up_username, read_page

METRICS = b'"public_metrics":{"retweet_count":5,"reply_count":2,"like_count":10,"quote_count":1,"bookmark_count":3,"impression_count":1234}'
# Shapes as X was recorded to send them.
TIMELINE = (
    b'{"data":[{"edit_history_tweet_ids":["1577730467436138524"],"id":"1577730467436138524","created_at":"2022-10-05T18:20:00.000Z","author_id":"12","lang":"en","text":"newest",%b},'
    b'{"edit_history_tweet_ids":["1565318587736285184"],"id":"1565318587736285184","created_at":"2022-09-01T12:20:00.000Z","author_id":"12","lang":"en","text":"RT @x: older","referenced_tweets":[{"type":"retweeted","id":"1565318587736285000"}],%b}],'
    b'"meta":{"result_count":2,"newest_id":"1577730467436138524","oldest_id":"1565318587736285184","next_token":"7140dibdnow9c7btw4232poeq0wapgnwgwqwvuwn3peex"}}'
) % (METRICS, METRICS)
NEWER, OLDER = 1577730467436138524, 1565318587736285184
EMPTY = b'{"meta":{"result_count":0}}'
STALE = b"""{"errors":[{"parameters":{"since_id":["2087867603335160198"]},"message":"'since_id' must be a tweet id created after 2026-08-19T08:41Z. Please use a 'since_id' that is larger than 2089996193672200192"}],"title":"Invalid Request","detail":"One or more parameters to your request was invalid.","type":"https://api.twitter.com/2/problems/invalid-request"}"""
TOO_FEW = b'{"errors":[{"parameters":{"max_results":["4"]},"message":"The `max_results` query parameter value [4] is not between 5 and 100"}],"title":"Invalid Request","detail":"One or more parameters to your request was invalid.","type":"https://api.twitter.com/2/problems/invalid-request"}'


def asked(peer):
    """Path and parameters of the only request."""
    [heard] = peer.heard
    target = urlsplit(heard.split(" ")[1])
    given = dict(parse_qsl(target.query))
    assert "public_metrics" in given.pop("tweet.fields")
    assert "Authorization: Bearer a-token" in heard
    return target.path, given


@pytest.mark.parametrize(
    ("ask", "path", "values"),
    [
        pytest.param(
            Ask("account", 12, since_id=5, until_id=9, token="t1", exclude=("replies", "retweets")),
            "/2/users/12/tweets",
            {"since_id": "5", "until_id": "9", "pagination_token": "t1", "max_results": "100", "exclude": "replies,retweets"},
            id="account",
        ),
        pytest.param(
            Ask("mentions", 12, since_id=0, max_results=5),
            "/2/users/12/mentions",
            {"since_id": "0", "max_results": "5"},
            id="mentions",
        ),
        pytest.param(
            Ask("search", '#a "b c" lang:en', token="t2", start_time=datetime(2026, 1, 2, tzinfo=UTC)),
            "/2/tweets/search/recent",
            {"query": '#a "b c" lang:en', "next_token": "t2", "max_results": "100", "start_time": "2026-01-02T00:00:00Z"},
            id="search",
        ),
        pytest.param(
            Ask("list", 34, token="t3", max_results=1),
            "/2/lists/34/tweets",
            {"pagination_token": "t3", "max_results": "1"},
            id="list",
        ),
    ],
)  # fmt: skip
def test_each_kind_of_source_is_requested_as_x_documents(peer, bearer, ask, path, values):
    peer.says_json(EMPTY)

    read_page(bearer, ask, **peer.asking)

    assert asked(peer) == (path, values)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "list", "of": 1, "since_id": 5},
        {"kind": "list", "of": 1, "until_id": 5},
        {"kind": "list", "of": "words"},
        {"kind": "search", "of": 1},
        {"kind": "search", "of": "a", "max_results": 9},
        {"kind": "account", "of": 1, "max_results": 4},
        {"kind": "account", "of": 1, "max_results": 101},
        {"kind": "mentions", "of": 1, "exclude": ("replies",)},
    ],
)
def test_an_invalid_request_raises_value_error(given):
    with pytest.raises(ValueError, match=r"\w"):
        Ask(**given)


def test_a_page_has_the_order_of_x_and_its_next_token(peer, bearer):
    peer.says_json(TIMELINE)

    page = read_page(bearer, Ask("account", 12), **peer.asking)

    assert list(page.posts) == [NEWER, OLDER]
    assert page.posts[NEWER] == Post(
        NEWER, 12, datetime(2022, 10, 5, 18, 20, tzinfo=UTC), "newest", "en", (NEWER,), Figures(5, 2, 10, 1, 3, 1234)
    )  # fmt: skip
    assert (page.newest_id, page.oldest_id) == (NEWER, OLDER)
    assert (page.retweets, page.replies) == ({OLDER}, set())
    assert page.next_token == "7140dibdnow9c7btw4232poeq0wapgnwgwqwvuwn3peex"
    assert (page.broken, page.missing, page.unreadable) == ({}, None, 0)


def test_an_empty_page_has_no_posts_and_no_verdict_on_its_account(peer, bearer):
    peer.says_json(EMPTY)

    page = read_page(bearer, Ask("account", 12), **peer.asking)

    assert (page.posts, page.newest_id, page.oldest_id) == ({}, None, None)
    assert (page.next_token, page.missing) == (None, None)


def test_the_request_is_timed_by_the_clock_of_x(peer, bearer):
    # The server waits for 0.3 s, so that the request began that much before its Date at least.
    at = (datetime.now(UTC) + timedelta(minutes=10)).replace(microsecond=0)
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(EMPTY)}\r\nDate: {format_datetime(at, usegmt=True)}\r\n\r\n"
    peer.says(b"", head.encode() + EMPTY, every=0.15)

    page = read_page(bearer, Ask("account", 12), **peer.asking)

    assert timedelta(seconds=0.3) <= at - page.asked_at < timedelta(seconds=5)
    assert timedelta(minutes=-11) < page.skew < timedelta(minutes=-9)


@pytest.mark.parametrize(
    ("date", "is_told"), [("", False), ("soon", False), ("Wed, 05 Oct 2022 18:20:00 GMT", True)]
)
def test_without_a_plausible_date_the_time_of_the_request_is_unknown(peer, bearer, date, is_told):
    peer.says_json(EMPTY, *([f"Date: {date}"] if date else []))

    page = read_page(bearer, Ask("account", 12), **peer.asking)

    assert page.asked_at is None
    assert (page.skew is not None) == is_told


def test_a_page_has_the_window_of_its_endpoint(peer, bearer):
    peer.says_json(
        EMPTY, "x-rate-limit-limit: 450", "x-rate-limit-remaining: 449", "x-rate-limit-reset: 1664994900"
    )  # fmt: skip

    window = read_page(bearer, Ask("search", "cats"), **peer.asking).window

    assert (window.endpoint, window.remaining) == ("GET /2/tweets/search/recent", 449)


def test_a_stale_since_id_raises_its_error_with_the_named_id(peer, bearer):
    peer.says_json(
        STALE, "x-rate-limit-limit: 450", "x-rate-limit-remaining: 448", "x-rate-limit-reset: 1664994900",
        status="400 Bad Request",
    )  # fmt: skip

    with pytest.raises(StaleSinceId) as raised:
        read_page(bearer, Ask("search", "cats", since_id=2087867603335160198), **peer.asking)

    assert raised.value.suggested == 2089996193672200192
    assert raised.value.window.remaining == 448
    assert "since_id" in str(raised.value)
    assert raised.value.__cause__ is None


def test_another_bad_request_is_no_stale_since_id(peer, bearer):
    peer.says_json(TOO_FEW, status="400 Bad Request")

    with pytest.raises(BadRequest) as told:
        read_page(bearer, Ask("account", 12), **peer.asking)

    assert type(told.value) is BadRequest


@pytest.mark.parametrize(
    ("message", "parameters", "verdict"),
    [
        ("Please use a 'since_id' that is larger than [7]", {"since_id": ["1"]}, (True, 7)),
        ("Please use a 'since_id' that is larger than 7", {"since_id": ["1"]}, (True, 7)),
        ("'since_id' must be a tweet id created after 2026-08-19T08:41Z.", None, (True, None)),
        ("since_id larger than 9999999999999999999", None, (True, None)),
        ("'start_time' must be created after x", {"start_time": ["1"]}, (False, None)),
        ("The since_id [x] does not match ^[0-9]{1,19}$", {"since_id": ["x"]}, (False, None)),
        (5, {"since_id": ["x"]}, (False, None)),
    ],
)
def test_a_400_is_parsed_for_a_stale_since_id(message, parameters, verdict):
    body = json.dumps({"errors": [{"message": message, "parameters": parameters}]}).encode()

    assert stale_since_id(body) == verdict


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        ("200 OK", b"<html></html>", Garbage),
        ("200 OK", b'{"posts":[]}', Garbage),
        ("200 OK", b'{"data":[],"meta":{"next_token":5}}', Garbage),
        ("200 OK", b'{"title":"CreditsDepleted","type":"x/credits"}', Garbage),
        ("404 Not Found", b"", Unavailable),
        ("503 Service Unavailable", b"", Unavailable),
        ("429 Too Many Requests", b"{}", RateLimited),
    ],
)
def test_a_malformed_page_raises_its_error(peer, bearer, status, body, error):
    peer.says_json(body, status=status)

    with pytest.raises(error):
        read_page(bearer, Ask("account", 12), **peer.asking)


@pytest.mark.parametrize(
    ("problem", "missing"),
    [
        (b'{"detail":"User has been suspended: [2881117795].","parameter":"id","resource_id":"2881117795","resource_type":"user","title":"Forbidden","type":"https://api.twitter.com/2/problems/resource-not-found","value":"2881117795"}', "suspended"),
        (b'{"value":"12","detail":"Could not find user with id: [12].","title":"Not Found Error","resource_type":"user","parameter":"id","resource_id":"12","type":"https://api.twitter.com/2/problems/resource-not-found"}', "not_found"),
        (b'{"resource_id":"12","parameter":"id","resource_type":"user","title":"Authorization Error","value":"12","detail":"Sorry, you are not authorized to see the user with id: [12].","type":"https://api.x.com/2/problems/not-authorized-for-resource"}', "unauthorized"),
    ],
)  # fmt: skip
def test_an_account_that_x_does_not_show_says_why(problem, missing):
    assert page_of(b'{"errors":[%b]}' % problem).missing == missing


def test_errors_about_quoted_posts_say_nothing_of_the_account():
    problem = b'{"value":"24","detail":"Could not find tweet with  referenced_tweets.id: [24].","parameter":"referenced_tweets.id","resource_type":"tweet","type":"https://api.twitter.com/2/problems/resource-not-found"}'

    page = page_of(TIMELINE.replace(b'"meta"', b'"errors":[%b],"meta"' % problem))

    assert (set(page.posts), page.missing) == ({NEWER, OLDER}, None)


def test_a_broken_post_is_named_by_id_and_keeps_the_others():
    body = b'{"data":[{"id":"3"},{"id":"2",%b},{"id":"2",%b},{"text":"x"},7],"meta":{}}'

    page = page_of(body % (METRICS, METRICS))

    assert (list(page.posts), list(page.broken)) == ([2], [3])
    assert (page.ids, page.unreadable) == ((3, 2), 2)


def test_the_vocabulary_of_posts_gives_the_same_page():
    body = TIMELINE.replace(b"retweet_count", b"repost_count").replace(b"_tweet", b"_post")

    assert page_of(body.replace(b'"retweeted"', b'"reposted"')) == page_of(TIMELINE)


NASA = b'{"data":[{"id":"11348282","name":"NASA","username":"NASA","protected":false}]}'
NOBODY = b'{"errors":[{"value":"nasa","detail":"Could not find user with usernames: [nasa].","title":"Not Found Error","resource_type":"user","parameter":"usernames","resource_id":"nasa","type":"https://api.twitter.com/2/problems/resource-not-found"}]}'


def test_a_username_is_found_in_any_case(peer, bearer):
    peer.says_json(NASA)

    named = look_up_username(bearer, "nasa", **peer.asking)

    assert named.account == Account(11348282, "NASA", "NASA", protected=False)
    assert named.missing is None
    assert "GET /2/users/by?" in peer.heard[0]
    assert "usernames=nasa" in peer.heard[0]


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        (NOBODY, (None, "not_found")),
        (NOBODY.replace(b"Could not find user with usernames", b"User has been suspended"), (None, "suspended")),
        (NASA.replace(b'"username":"NASA"', b'"username":"other"'), (None, None)),
        (b"{}", (None, None)),
    ],
)  # fmt: skip
def test_a_username_that_x_does_not_show_has_its_reason_or_no_verdict(body, verdict):
    assert read_named(body, "nasa") == verdict


def test_a_username_of_the_fake_is_the_account_that_its_posts_name(fake, bearer):
    [post] = look_up(bearer, fake.visible_ids(1), **fake.asking).posts.values()
    [account] = look_up_accounts(bearer, [post.author_id], **fake.asking).accounts.values()

    assert look_up_username(bearer, account.username, **fake.asking).account == account
    assert look_up_username(bearer, "nobody", **fake.asking).missing == "not_found"


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5
)
ITEM = {
    "id": "1", "text": "", "created_at": "2026-01-01T00:00:00Z", "author_id": "1",
    "public_metrics": {"like_count": 1}, "referenced_tweets": [{"type": "retweeted", "id": "2"}],
    "username": "nasa",
}  # fmt: skip
PROBLEM = {
    "parameter": "id",
    "value": "nasa",
    "type": "a/resource-not-found",
    "message": "since_id",
}


def spoilt(good):
    changed = st.fixed_dictionaries({}, optional=dict.fromkeys(good, VALUES))
    return changed.map(lambda changes: {**good, **changes})


BODIES = st.binary() | st.fixed_dictionaries(
    {},
    optional={
        "data": VALUES | st.lists(spoilt(ITEM) | VALUES),
        "errors": VALUES | st.lists(spoilt(PROBLEM) | VALUES),
        "meta": VALUES | spoilt({"next_token": "t"}),
        "type": VALUES,
    },
).map(lambda value: json.dumps(value).encode())


@settings(max_examples=200, deadline=None)
@given(BODIES)
@example(b'{"data":[{"id":{},"referenced_tweets":[{"type":[]}]}],"meta":{"next_token":{}}}')
@example(b'{"errors":[{"parameter":[],"type":"x/resource-not-found"}]}')
@example(b'{"errors":[{"parameter":[],"parameters":["since_id"],"message":"since_id"}]}')
def test_arbitrary_bodies_raise_only_x_errors(body):
    for read in (page_of, lambda body: read_named(body, "nasa"), stale_since_id):
        try:
            reading = read(body)
        except XError:
            continue
        if read is page_of:
            assert set(reading.ids) == reading.posts.keys() | reading.broken.keys()
            assert reading.replies | reading.retweets <= set(reading.ids)


def test_the_fake_pages_through_posts_of_an_account_once_each(fake, bearer):
    [post] = look_up(bearer, fake.visible_ids(1), **fake.asking).posts.values()
    whole = read_page(bearer, Ask("account", post.author_id, max_results=100), **fake.asking)

    ask, seen = Ask("account", post.author_id, max_results=5), []
    while len(seen) < len(whole.ids):
        page = read_page(bearer, ask, **fake.asking)
        seen += page.ids
        if page.next_token is None:
            break
        ask = replace(ask, token=page.next_token)

    assert tuple(seen[: len(whole.ids)]) == whole.ids
    assert list(whole.ids) == sorted(whole.ids, reverse=True)
    assert abs(whole.skew) < timedelta(seconds=5)


def test_the_fake_finds_a_since_id_of_last_month_stale(fake, bearer):
    with pytest.raises(StaleSinceId) as raised:
        read_page(bearer, Ask("search", "cats", since_id=2**50), **fake.asking)

    assert raised.value.suggested > 2**50
    read_page(bearer, Ask("search", "cats", since_id=raised.value.suggested + 2**34), **fake.asking)
