"""Lines of the stream and X's answers about rules: whatever they are, they are read or told of."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trackers.xapi.errors import Garbage
from trackers.xapi.parse.stream import (
    Event,
    Farewell,
    Garbled,
    Matched,
    read_added,
    read_line,
    read_rules,
)
from trackers.xapi.stream import split

POST = {
    "id": "1623124887853240327",
    "text": "hello",
    "author_id": "12",
    "created_at": "2026-08-19T08:41:37.000Z",
    "edit_history_tweet_ids": ["1623124887853240327"],
    "public_metrics": {"retweet_count": 0, "reply_count": 0, "like_count": 0, "quote_count": 0},
}
RULES = [{"id": "7", "tag": "tweetwatch:3"}, {"id": "8"}]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


def line(**said):
    return json.dumps(said).encode()


def test_a_post_comes_with_the_rules_that_matched_it():
    reply = read_line(line(data=POST, matching_rules=RULES))

    assert isinstance(reply, Event)
    assert (reply.id, reply.post.text, reply.post.figures.likes) == (int(POST["id"]), "hello", 0)
    assert reply.rules == (Matched(7, "tweetwatch:3"), Matched(8, ""))


def test_a_broken_post_keeps_its_id():
    said = read_line(line(data={**POST, "public_metrics": []}, matching_rules=RULES))

    assert (said.id, said.post) == (int(POST["id"]), None)


def test_errors_beside_a_post_are_no_disconnect_message():
    said = read_line(line(data=POST, matching_rules=RULES, errors=[{"title": "Not Found Error"}]))

    assert isinstance(said, Event)


def test_a_disconnect_message_has_its_reason():
    errors = [
        {
            "title": "operational-disconnect",
            "disconnect_type": "UpstreamOperationalDisconnect",
            "detail": "This stream has been disconnected upstream for operational reasons.",
            "type": "https://api.twitter.com/2/problems/operational-disconnect",
        }
    ]

    reply = read_line(line(errors=errors))

    assert isinstance(reply, Farewell)
    assert reply.reason.startswith("UpstreamOperationalDisconnect")
    assert "operational reasons" in reply.reason


@pytest.mark.parametrize("problem", [{"title": "ConnectionException"}, {"type": "/problems/x"}])
def test_a_problem_in_place_of_a_line_is_a_disconnect_message(problem):
    assert isinstance(read_line(line(**problem)), Farewell)


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b"1",
        b"null",
        b"\xff\xfe",
        b'{"data":{"id":"1"}}',
        b'{"data":{"id":"x"},"matching_rules":[{"id":"1"}]}',
        b'{"data":{"id":"1"},"matching_rules":[]}',
        b'{"data":{"id":"1"},"matching_rules":[{"id":true}]}',
        b'{"data":[],"matching_rules":[{"id":"1"}]}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_a_line_that_may_have_held_a_post_is_garbled(text):
    assert isinstance(read_line(text), Garbled)


@given(st.binary())
def test_arbitrary_bytes_never_raise(text):
    assert isinstance(read_line(text), Event | Farewell | Garbled)


@given(ANYTHING, ANYTHING, ANYTHING)
def test_arbitrary_json_never_raises(data, rules, errors):
    text = line(data=data, matching_rules=rules, errors=errors)

    assert isinstance(read_line(text), Event | Farewell | Garbled)


@given(st.sampled_from(sorted(POST)), ANYTHING)
def test_a_post_with_one_arbitrary_value_never_raises(name, value):
    reply = read_line(line(data={**POST, name: value}, matching_rules=RULES))

    assert isinstance(reply, Event | Garbled)
    if name != "id":
        assert reply.id == int(POST["id"])


@given(st.integers(0, 1000), st.binary(max_size=5))
def test_a_truncated_line_never_raises(length, more):
    whole = line(data=POST, matching_rules=RULES)

    said = read_line(whole[: length % len(whole)] + more)

    assert isinstance(said, Event | Farewell | Garbled)


@given(ANYTHING)
def test_answers_about_rules_are_parsed_or_garbage(answer):
    body = json.dumps(answer).encode()
    for read in (read_rules, read_added):
        try:
            read(body, (), window=None)
        except Garbage:
            continue


def test_new_rules_are_added_or_known_or_refused():
    problems = "https://api.twitter.com/2/problems/"
    body = {
        "data": [{"value": "a", "tag": "t", "id": "1"}],
        "errors": [
            {
                "value": "b",
                "id": "2",
                "title": "DuplicateRule",
                "type": problems + "duplicate-rules",
            },
            {"value": "c", "details": ["no", "such"], "title": "UnprocessableEntity"},
            {"value": "d", "detail": "too many", "type": problems + "rule-cap"},
            {"message": "of nothing"},
        ],
    }

    said = read_added(json.dumps(body).encode(), (), window=None)

    assert (said.added, said.known) == ({"a": 1}, {"b": 2})
    assert said.refused == {"c": "no such", "d": "too many"}


@given(st.lists(st.binary(max_size=20)), st.integers(1, 30))
def test_lines_do_not_depend_on_how_bytes_are_chunked(lines, size):
    lines = [one.replace(b"\n", b"").replace(b"\r", b"") for one in lines]
    text = b"".join(one + b"\r\n" for one in lines) + b"half a li"
    pieces = (text[start : start + size] for start in range(0, len(text), size))

    assert [one for one, _ in split(pieces)] == lines


def test_an_endless_line_is_garbage_and_not_kept():
    with pytest.raises(Garbage):
        list(split(iter([b"x" * 100_000] * 100)))
