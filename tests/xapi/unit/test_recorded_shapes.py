# ruff: noqa: E501 - bodies stay in one piece
"""Bodies as X was recorded to send them, byte for byte, and the figures that became of them."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.xapi.errors import (
    BadRequest,
    Depleted,
    Forbidden,
    NotShown,
    RateLimited,
    Refused,
    Unavailable,
)
from trackers.xapi.parse import v1 as parse_v1
from trackers.xapi.parse import v2 as parse_v2
from trackers.xapi.results import Account, Figures, Post
from trackers.xapi.wire.headers import window_seen
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import Reply

LOOKUP = rb"""{"data":[{"id":"1577730467436138524","text":"drum \uD83E\uDD41 & caf\u00e9","edit_history_tweet_ids":["1577730467436138524"],"author_id":"2244994945","created_at":"2026-08-19T08:41:37.000Z",
 "public_metrics":{"retweet_count":5,"reply_count":2,"like_count":10,"quote_count":1,"bookmark_count":3,"impression_count":1234},
 "edit_controls":{"edits_remaining":5,"is_edit_eligible":true,"editable_until":"2026-08-19T09:41:37.000Z"}}],
"errors":[{"value":"24","detail":"Could not find tweet with ids: [24].","title":"Not Found Error","resource_type":"tweet","parameter":"ids","resource_id":"24","type":"https://api.twitter.com/2/problems/resource-not-found"},
{"resource_id":"23454","parameter":"ids","resource_type":"tweet","section":"data","title":"Authorization Error","value":"23454","detail":"Sorry, you are not authorized to see the Tweet with ids: [23454].","type":"https://api.twitter.com/2/problems/not-authorized-for-resource"}]}"""
ID = 1577730467436138524


def test_a_look_up_with_shown_not_found_and_not_authorized_tweets_is_parsed():
    answer = parse_v2.read_lookup(LOOKUP, [ID, 24, 23454, 25], window=None)

    assert answer.posts == {
        ID: Post(
            id=ID,
            author_id=2244994945,
            created_at=datetime(2026, 8, 19, 8, 41, 37, tzinfo=UTC),
            text="drum 🥁 & café",
            lang="",
            edit_history=(ID,),
            figures=Figures(5, 2, 10, 1, 3, 1234),
        )
    }
    assert answer.missing == {24: "not_found", 23454: "unauthorized"}
    assert answer.broken == {}


def test_the_vocabulary_of_posts_and_the_other_host_give_the_same():
    body = (
        LOOKUP.replace(b"retweet_count", b"repost_count")
        .replace(b"edit_history_tweet_ids", b"edit_history_post_ids")
        .replace(b"https://api.twitter.com", b"https://api.x.com")
        .replace(b'"resource_type":"tweet"', b'"resource_type":"post"')
    )

    asked = [ID, 24, 23454]
    assert parse_v2.read_lookup(body, asked, window=None) == parse_v2.read_lookup(
        LOOKUP, asked, window=None
    )


def test_a_body_without_data_has_only_missing_tweets():
    body = rb'{"errors":[{"value":"24","detail":"Could not find tweet with ids: [24].","title":"Not Found Error","resource_type":"tweet","parameter":"ids","resource_id":"24","type":"https://api.twitter.com/2/problems/resource-not-found"}]}'

    answer = parse_v2.read_lookup(body, [24], window=None)

    assert (answer.posts, answer.missing) == ({}, {24: "not_found"})


@pytest.mark.parametrize("parameter", ["referenced_tweets.id", "pinned_tweet_id", "IDS"])
def test_errors_about_something_else_than_ids_do_not_count(parameter):
    body = LOOKUP.replace(b'"parameter":"ids"', b'"parameter":"%s"' % parameter.encode())

    assert parse_v2.read_lookup(body, [24, 23454], window=None).missing == {}


def test_a_suspended_account_has_the_problem_type_of_an_unknown_one():
    body = b'{"data":[{"id":"12","name":"jack","username":"jack","protected":true}],"errors":[{"detail":"User has been suspended: [2881117795].","parameter":"ids","resource_id":"2881117795","resource_type":"user","title":"Forbidden","type":"https://api.twitter.com/2/problems/resource-not-found","value":"2881117795"}]}'

    answer = parse_v2.read_accounts(body, [12, 2881117795], window=None)

    assert answer.accounts == {12: Account(12, "jack", "jack", protected=True)}
    assert answer.missing == {2881117795: "suspended"}


def test_a_v1_map_with_a_tweet_and_a_null_is_parsed():
    body = rb'{"id":{"20":{"created_at":"Sat Jul 13 02:26:37 +0000 2019","id":20,"id_str":"20","full_text":"just setting up my twttr","user":{"id":12,"id_str":"12","screen_name":"jack"},"retweet_count":123,"favorite_count":456,"lang":"en"},"999":null}}'

    answer = parse_v1.read_lookup(body, [20, 999, 1000], window=None)

    assert answer.posts == {
        20: Post(
            id=20,
            author_id=12,
            created_at=datetime(2019, 7, 13, 2, 26, 37, tzinfo=UTC),
            text="just setting up my twttr",
            lang="en",
            edit_history=(),
            figures=Figures(123, None, 456, None, None, None),
            username="jack",
        )
    }
    assert answer.missing == {999: "unavailable"}


@pytest.mark.parametrize("zone", ["GMT", "UTC"])
def test_window_and_clock_of_x_are_read_from_the_headers(zone):
    headers = {
        "date": f"Wed, 05 Oct 2022 18:20:00 {zone}",
        "x-rate-limit-limit": "900",
        "x-rate-limit-remaining": "899",
        "x-rate-limit-reset": "1664994900",
    }

    window = window_seen(headers, "GET /2/tweets")

    assert (window.limit, window.remaining) == (900, 899)
    assert window.seen_at == datetime(2022, 10, 5, 18, 20, tzinfo=UTC)
    assert window.resets_at - window.seen_at == timedelta(minutes=15)


WINDOW = {"x-rate-limit-limit": "15", "x-rate-limit-reset": "1664994900"}
FULL, ROOM = WINDOW | {"x-rate-limit-remaining": "0"}, WINDOW | {"x-rate-limit-remaining": "39999"}


@pytest.mark.parametrize(
    ("status", "headers", "body", "error"),
    [
        pytest.param(
            429,
            FULL,
            b'{"title":"Too Many Requests","detail":"Too Many Requests","type":"about:blank","status":429}',
            RateLimited,
            id="window",
        ),
        pytest.param(
            429,
            FULL,
            b'{"errors":[{"code":88,"message":"Rate limit exceeded"}]}',
            RateLimited,
            id="window of v1.1",
        ),
        pytest.param(
            429,
            ROOM,
            b'{"account_id":1234567890,"product_name":"standard-basic","title":"UsageCapExceeded","period":"Monthly","scope":"Product","detail":"Usage cap exceeded: Monthly product cap","type":"https://api.twitter.com/2/problems/usage-capped"}',
            Depleted,
            id="monthly cap",
        ),
        pytest.param(
            402,
            {},
            b'{"title":"CreditsDepleted","detail":"Your enrolled account [1234567890] does not have any credits to fulfill this request.","type":"https://api.twitter.com/2/problems/credits"}',
            Depleted,
            id="credits, first shape",
        ),
        pytest.param(
            402,
            {},
            b'{"detail":"credits depleted","status":402,"title":"Payment Required","type":"https://api.x.com/2/problems/credits-depleted"}',
            Depleted,
            id="credits, second shape",
        ),
        pytest.param(
            401,
            {},
            b'{"title":"Unauthorized","type":"about:blank","status":401,"detail":"Unauthorized"}',
            Refused,
            id="unauthorized",
        ),
        pytest.param(
            403,
            ROOM,
            b'{"client_id":"10000000","detail":"When authenticating requests to the Twitter API v2 endpoints, you must use keys and tokens from a Twitter developer App that is attached to a Project. You can create a project via the developer portal.","registration_url":"https://developer.twitter.com/en/docs/projects/overview","title":"Client Forbidden","required_enrollment":"Appropriate Level of API Access","reason":"client-not-enrolled","type":"https://api.twitter.com/2/problems/client-forbidden"}',
            Forbidden,
            id="not enrolled",
        ),
        pytest.param(
            403,
            {},
            b'{"errors":[{"message":"You currently have access to a subset of X API V2 endpoints and limited v1.1 endpoints (e.g. media post, oauth) only.","code":453}]}',
            Forbidden,
            id="v1.1 is not for this tier",
        ),
        pytest.param(
            400,
            {},
            b'{"errors":[{"code":215,"message":"Bad Authentication data."}]}',
            Refused,
            id="v1.1 without keys",
        ),
        pytest.param(
            503,
            {},
            b'{"title":"Service Unavailable","detail":"Service Unavailable","type":"about:blank","status":503}',
            Unavailable,
            id="unavailable",
        ),
        pytest.param(503, {}, b"upstream connect error", Unavailable, id="unavailable, text"),
        pytest.param(404, {}, b"", Unavailable, id="false not found"),
        pytest.param(
            400,
            ROOM,
            b'{"errors":[{"parameters":{"ids":["1,2,3"]},"message":"The number of values in the `ids` query parameter list [101] is not between 1 and 100"}],"title":"Invalid Request","detail":"One or more parameters to your request was invalid.","type":"https://api.twitter.com/2/problems/invalid-request"}',
            BadRequest,
            id="bad request",
        ),
    ],
)
def test_another_status_raises_its_error(status, headers, body, error):
    raised = error_in(Reply(status, headers, body, "Reason"), window_seen(headers, "GET /2/tweets"))

    assert type(raised) is error
    assert str(raised).startswith(str(status))
    assert len(str(raised)) < 250
    assert (raised.window is not None) == ("x-rate-limit-remaining" in headers)


OF_A_LIST = b'{"title":"Authorization Error","type":"https://api.x.com/2/problems/not-authorized-for-resource","parameter":"id","resource_type":"list","status":403}'
NOT_ENROLLED = b'{"title":"Client Forbidden","reason":"client-not-enrolled","type":"https://api.x.com/2/problems/client-forbidden"}'
BARE = b'{"title":"Forbidden","type":"about:blank","status":403,"detail":"Forbidden"}'


@pytest.mark.parametrize(
    ("status", "body", "of_a_list", "of_search"),
    [
        (403, OF_A_LIST, NotShown, Forbidden),
        (403, BARE, NotShown, Forbidden),
        (403, NOT_ENROLLED, Forbidden, Forbidden),
        (404, b"", Unavailable, Unavailable),
        (401, BARE, Refused, Refused),
        (403, b'{"errors":[{"code":64,"message":"Your account is suspended"}]}', Refused, Refused),
    ],
)
def test_a_refusal_concerns_the_credential_the_endpoint_or_the_request(
    status, body, of_a_list, of_search
):
    def refusal_of(endpoint):
        return type(error_in(Reply(status, {}, body, "Reason"), None, endpoint=endpoint))

    assert refusal_of("GET /2/lists/:id/tweets") is of_a_list
    assert refusal_of("GET /2/tweets/search/recent") is of_search


def test_an_exhausted_window_returns_its_reset_and_an_open_one_none():
    body = b'{"title":"Too Many Requests"}'

    full = error_in(Reply(429, FULL, body, ""), window_seen(FULL, "GET /2/tweets"))
    room = error_in(Reply(429, ROOM, body, ""), window_seen(ROOM, "GET /2/tweets"))

    assert full.resets_at == datetime.fromtimestamp(1664994900, UTC)
    assert room.resets_at is None


@pytest.mark.parametrize(
    ("text", "after"),
    [("120", 120), ("Wed, 05 Oct 2022 18:20:30 GMT", 30), ("9999999", 900), ("soon", None)],
)
def test_retry_after_is_seconds_or_a_date_by_the_clock_of_x(text, after):
    headers = {"Retry-After": text, "Date": "Wed, 05 Oct 2022 18:20:00 GMT"}

    error = error_in(Reply(503, headers, b"", "Service Unavailable"), None)

    assert error.retry_after == (None if after is None else timedelta(seconds=after))


def test_a_bad_request_error_does_not_repeat_echoed_ids():
    ids = b",".join(b"%d" % id for id in range(10**18, 10**18 + 100))
    body = b'{"errors":[{"message":"bad list [%s] of ids"}]}' % ids

    told = str(error_in(Reply(400, {}, body, "Bad Request"), None))

    assert told == "400 bad list […] of ids"
