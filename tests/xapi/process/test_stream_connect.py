"""Connecting to the stream, reading its lines and ending it, over real sockets."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from tests.x import wait_until
from trackers.xapi.errors import BadRequest, RateLimited, Refused, Unavailable, XError
from trackers.xapi.parse.stream import Event, read_line
from trackers.xapi.stream import NoRules, TooManyConnections, Unreachable, connect
from trackers.xapi.stream_rules import add_rules, delete_rules, rules_of

SILENCE = timedelta(seconds=1)
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: Tue, 01 Sep 2026 12:00:00 GMT\r\n\r\n"
)


def chunk(text):
    return b"%x\r\n%s\r\n" % (len(text), text)


def opened(peer, bearer, silence=SILENCE):
    return connect(bearer, **peer.asking, silence=silence)


def listened(stream):
    """The lines until the end, and how it ended."""
    lines = []
    try:
        for line, _ in stream.lines():
            lines.append(line)
    except XError as error:
        return lines, error
    return lines, None


def test_lines_and_keep_alives_are_read_from_any_chunks(peer, bearer):
    pieces = [chunk(b'{"a":1}\r\n{"b"'), chunk(b":2}\r\n"), chunk(b"\r\n"), b"0\r\n\r\n", None]
    peer.says(CHUNKED, *pieces, every=0.02)

    lines, error = listened(opened(peer, bearer))

    assert lines == [b'{"a":1}', b'{"b":2}', b""]
    assert error is None


def test_silence_and_a_cut_are_network_errors_and_half_a_line_is_dropped(peer, bearer):
    peer.says(CHUNKED, chunk(b"1\r\n{"), None)
    peer.says(CHUNKED, chunk(b"1\r\n"))

    cut, cut_error = listened(opened(peer, bearer))
    quiet, quiet_error = listened(opened(peer, bearer, timedelta(seconds=0.5)))

    assert (cut, quiet) == ([b"1"], [b"1"])
    assert isinstance(cut_error, Unreachable)
    assert "silent" in str(quiet_error)


def test_a_stream_can_be_closed_while_another_thread_waits_for_a_line(peer, bearer):
    peer.says(CHUNKED, chunk(b"1\r\n"))
    stream, heard = opened(peer, bearer, timedelta(seconds=30)), []
    thread = threading.Thread(target=lambda: heard.append(listened(stream)))
    thread.start()

    stream.close()

    thread.join(5)
    assert not thread.is_alive()
    assert heard[0][1] is None


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        ("429 Too Many", b'{"connection_issue":"TooManyConnections"}', TooManyConnections),
        ("429 Too Many", b"{}", RateLimited),
        ("409 Conflict", b'{"connection_issue":"RuleConfigurationIssue"}', NoRules),
        ("503 Unavailable", b"", Unavailable),
        ("401 Unauthorized", b'{"title":"what, a-token?"}', Refused),
    ],
)
def test_a_refusal_raises_its_error_without_secrets(peer, bearer, status, body, kind):
    peer.says_json(body, status=status)

    with pytest.raises(kind) as caught:
        opened(peer, bearer)

    assert type(caught.value) is kind
    assert "a-token" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_closed_port_is_unreachable(bearer):
    asking = {"base_url": "http://127.0.0.1:9", "timeout": timedelta(seconds=5)}

    with pytest.raises(Unreachable):
        connect(bearer, **asking, silence=SILENCE)


def test_rules_are_added_read_and_deleted_and_posts_match_them(fake, bearer, everything_logged):
    for subject in ("stream", "posts"):
        fake.tell("DELETE", subject)
    fake.tell("PUT", "stream", rule_delay_s=0, keepalive_s=0.1)

    done = add_rules(bearer, {"#moon": "a tag", "(broken": "b"}, **fake.asking)
    [rule] = rules_of(bearer, **fake.asking).rules
    stream = connect(bearer, **fake.asking, silence=timedelta(seconds=5))
    heard = []
    thread = threading.Thread(target=lambda: heard.extend(line for line, _ in stream.lines()))
    thread.start()
    at_once = {"usual_ms": 0, "late_share": 0, "very_late_share": 0}
    fake.tell("POST", "posts", count=5, rate=100, tags=["moon"], tagged=1, lag=at_once)
    wait_until(lambda: sum(map(bool, heard)) == 5)
    stream.close()
    thread.join(5)

    assert done.added == {"#moon": rule.id}
    assert set(done.refused) == {"(broken"}
    assert (rule.value, rule.tag) == ("#moon", "a tag")
    events = [read_line(line) for line in heard if line]
    assert all(isinstance(event, Event) and event.post for event in events)
    assert stream.date is not None
    assert abs(stream.date - datetime.now(UTC)) < timedelta(seconds=20)
    delete_rules(bearer, [rule.id], **fake.asking)
    assert rules_of(bearer, **fake.asking).rules == ()
    with pytest.raises(NoRules):
        connect(bearer, **fake.asking, silence=SILENCE)
    fake.tell("DELETE", "posts")
    assert "a-token" not in everything_logged.text


BAD_RULE = b"""{"title":"Invalid Request","errors":[{"value":"(cat","details":["missing )"],
    "title":"UnprocessableEntity","type":"https://api.x.com/2/problems/invalid-rules"}]}"""


def test_a_refusal_of_all_rules_that_names_the_bad_one_is_an_answer(peer, bearer):
    peer.says_json(BAD_RULE, status="400 Bad Request")

    told = add_rules(bearer, {"(cat": "a", "dog": "b"}, **peer.asking)

    assert (told.added, told.known, told.refused) == ({}, {}, {"(cat": "missing )"})


@pytest.mark.parametrize("body", [b'{"errors":[{"message":"what?"}]}', b"[]", b"<html>", b""])
def test_a_refusal_of_all_rules_that_names_none_is_an_error(peer, bearer, body):
    peer.says_json(body, status="400 Bad Request")

    with pytest.raises(BadRequest):
        add_rules(bearer, {"(cat": "a"}, **peer.asking)
