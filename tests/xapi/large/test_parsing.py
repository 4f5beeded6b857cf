"""Bodies that are not as X documents them: a broken tweet costs itself alone."""

import json

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trackers.xapi.errors import Garbage, XError
from trackers.xapi.parse import v1 as parse_v1
from trackers.xapi.parse import v2 as parse_v2
from trackers.xapi.results import Figures
from trackers.xapi.wire.headers import retry_after, window_seen
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import Reply

METRICS = {
    "retweet_count": 1,
    "reply_count": 2,
    "like_count": 3,
    "quote_count": 4,
    "bookmark_count": 5,
    "impression_count": 6,
}
GOOD = {"id": "1", "text": "good", "public_metrics": METRICS}


def body_with(**changes):
    return json.dumps({"data": [{**GOOD, "id": "2", **changes}, GOOD]}).encode()


def look(body, ids=(1, 2)):
    return parse_v2.read_lookup(body, ids, window=None)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        pytest.param({"public_metrics": None}, "public_metrics", id="metrics null"),
        pytest.param({"public_metrics": []}, "public_metrics", id="metrics a list"),
        pytest.param({"public_metrics": {}}, "there is no count", id="no count at all"),
        pytest.param({"public_metrics": dict.fromkeys(METRICS)}, "retweet_count", id="all null"),
        pytest.param({"created_at": "yesterday"}, "created_at", id="no date"),
        pytest.param({"created_at": "2026-08-19T08:41:37"}, "created_at", id="no zone"),
        pytest.param({"created_at": 1787128897}, "created_at", id="epoch"),
        pytest.param({"created_at": "0001-01-01T00:00:00+14:00"}, "created_at", id="before time"),
        pytest.param({"author_id": 12}, "author_id", id="author a number"),
        pytest.param({"author_id": "9" * 19}, "author_id", id="author too large"),
        pytest.param({"text": ["a"]}, "text", id="text a list"),
        pytest.param({"edit_history_tweet_ids": ["2", 3]}, "edit_history", id="history"),
        pytest.param({"edit_history_tweet_ids": "2"}, "edit_history", id="history a text"),
    ],
)
def test_a_broken_tweet_is_named_and_keeps_the_others(changes, named):
    answer = look(body_with(**changes))

    assert set(answer.posts) == {1}
    assert list(answer.broken) == [2]
    assert named in answer.broken[2]
    assert "\n" not in answer.broken[2]


def test_a_tweet_without_metrics_is_broken():
    answer = look(b'{"data":[{"id":"2","text":"x"}]}')

    assert answer.broken == {2: "public_metrics is nothing instead of an object"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("like_count", "3", id="text"),
        pytest.param("like_count", -1, id="negative"),
        pytest.param("like_count", True, id="bool"),
        pytest.param("like_count", 3.0, id="float"),
        pytest.param("like_count", None, id="null"),
        pytest.param("like_count", 2**31, id="int4"),
        pytest.param("impression_count", 2**63, id="int8"),
        pytest.param("reply_count", 10**40, id="enormous"),
    ],
)
def test_a_broken_count_is_unknown_and_named_and_keeps_the_others(name, value):
    answer = look(body_with(public_metrics=METRICS | {name: value}))

    known = {**METRICS, name: None}
    assert answer.posts[2].figures == Figures(*known.values())
    assert len(answer.unread) == 1
    assert name in answer.unread[0]


def test_a_broken_count_of_v1_is_unknown_and_keeps_the_other():
    status = {"id_str": "1", "full_text": "x", "retweet_count": None, "favorite_count": 3}

    answer = parse_v1.read_lookup(orjson.dumps({"id": {"1": status}}), [1], window=None)

    assert answer.posts[1].figures == Figures(None, None, 3, None, None, None)
    assert len(answer.unread) == 1


def test_an_absent_count_is_unknown():
    answer = look(body_with(public_metrics={"like_count": 0, "impression_count": 2**63 - 1}))

    assert answer.posts[2].figures == Figures(None, None, 0, None, None, 2**63 - 1)


@pytest.mark.parametrize("id", [None, 2, True, [], {}, "", "02", "-2", "２", "2.0", "9" * 30])
def test_a_tweet_without_a_readable_id_is_ignored(id):
    answer = look(body_with(id=id))

    assert (set(answer.posts), answer.broken, answer.missing) == ({1}, {}, {})


def test_an_unrequested_tweet_is_ignored():
    assert set(look(body_with(), ids=[2]).posts) == {2}


def test_a_shown_tweet_is_not_missing_despite_errors():
    problem = {"parameter": "ids", "value": "1", "type": "x/resource-not-found"}

    answer = look(json.dumps({"data": [GOOD], "errors": [problem] * 3}).encode())

    assert (set(answer.posts), answer.missing) == ({1}, {})


@pytest.mark.parametrize("kind", ["internal-error", "field-hydration-failure", "", "new-kind"])
def test_an_error_about_something_else_is_no_verdict(kind):
    problem = {"parameter": "ids", "value": "1", "type": f"https://api.x.com/2/problems/{kind}"}

    answer = look(json.dumps({"errors": [problem]}).encode())

    assert (answer.posts, answer.missing, answer.broken) == ({}, {}, {})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<!DOCTYPE html><html></html>", id="HTML"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'"text"', id="a text"),
        pytest.param(b"null", id="null"),
        pytest.param(b'{"data":[{"id":"1"', id="cut off"),
        pytest.param(b'{"data":{"id":"1"}}', id="data an object"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b'{"a":' + b"[" * 100_000, id="too deep"),
        pytest.param(b'{"title":"x","type":"y/credits","detail":"z"}', id="a problem"),
    ],
)
def test_a_malformed_body_is_garbage(body):
    with pytest.raises(Garbage):
        look(body)
    with pytest.raises(Garbage):
        parse_v1.read_lookup(body, [1], window=None)


@pytest.mark.parametrize("odd", [r"\ud83e", r"\udd41x", r"a\u0000b"])
def test_a_text_that_postgresql_cannot_store_is_repaired(odd):
    body = orjson.dumps({"data": [{**GOOD, "id": "2", "text": "ODD"}, GOOD]})

    answer = look(body.replace(b"ODD", odd.encode()))

    assert set(answer.posts) == {1, 2}
    text = answer.posts[2].text
    assert "\ufffd" in text
    assert "\x00" not in text.encode().decode()


def test_a_broken_tweet_of_v1_keeps_the_others():
    body = json.dumps(
        {
            "id": {
                "1": {"retweet_count": 1, "favorite_count": 2},
                "2": {"retweet_count": "many", "favorite_count": None},
                "3": "gone",
                "4": {"retweet_count": 1, "created_at": "2026-08-19"},
                "5": {"retweet_count": 1, "id_str": "6"},
                "6": {},
            }
        }
    ).encode()

    answer = parse_v1.read_lookup(body, [1, 2, 3, 4, 5, 6], window=None)

    assert (set(answer.posts), set(answer.broken)) == ({1}, {2, 3, 4, 5, 6})


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["1", "2"])
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def spoilt(good):
    """The object with any of its values replaced or missing."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(good, VALUES)).map(
        lambda changes: {**good, **changes}
    )


TWEETS = spoilt(
    {**GOOD, "created_at": "", "author_id": "", "lang": "", "edit_history_tweet_ids": 0}
)
PROBLEMS = spoilt(
    {"parameter": "ids", "value": "1", "type": "a/resource-not-found", "resource_type": "tweet"}
)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "data": VALUES | st.lists(TWEETS | VALUES),
        "errors": VALUES | st.lists(PROBLEMS | VALUES),
        "id": VALUES | st.dictionaries(st.sampled_from(["1", "2"]), TWEETS | VALUES),
        "title": VALUES,
        "type": VALUES,
    },
)
BODIES = (
    st.binary()
    | VALUES.map(lambda value: json.dumps(value).encode())
    | ANSWERS.map(lambda value: json.dumps(value).encode())
)


@settings(max_examples=200, deadline=None)
@given(BODIES)
@example(b'{"errors":[{"parameter":"ids","value":["1"],"type":[]}]}')
@example(b'{"data":[{"id":{}}],"errors":"text"}')
@example(b'{"id":{"1":{"user":[],"created_at":{}}}}')
def test_arbitrary_bodies_raise_only_x_errors(body):
    for read in (parse_v2.read_lookup, parse_v2.read_accounts, parse_v1.read_lookup):
        try:
            answer = read(body, [1, 2], window=None)
        except XError:
            continue
        verdicts = answer.missing.keys() | (
            answer.accounts.keys()
            if hasattr(answer, "accounts")
            else answer.posts.keys() | answer.broken.keys()
        )
        assert verdicts <= {1, 2}


@settings(max_examples=200, deadline=None)
@given(BODIES, st.integers(300, 599), st.text(), st.text())
def test_every_refusal_is_described_in_one_line(body, status, header, reason):
    names = ("date", "retry-after", "x-rate-limit-limit", "x-rate-limit-remaining")
    headers = dict.fromkeys((*names, "x-rate-limit-reset"), header)

    error = error_in(Reply(status, headers, body, reason), window_seen(headers, "GET /2/tweets"))
    retry_after(headers)

    assert isinstance(error, XError)
    assert len(str(error)) < 250
    assert str(error).isprintable()
