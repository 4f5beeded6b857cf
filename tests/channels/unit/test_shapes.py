"""What each service is sent, and how its refusals read; against the fakes, without a database."""

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
import uvloop

from tests.channels.sending import LOOPBACK, OWN_SHAPES, serving
from tests.events.receivers import Receiver, answers, drips, hangs, resets
from trackers.channels.message import Line, Message
from trackers.events.delivery.call import Answer
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.post import Sender
from trackers.management.fake_services import ServiceReply as Refusal
from trackers.management.fake_services import addresses

PATIENT, HURRIED = timedelta(seconds=20), timedelta(seconds=1.5)
NASTY = "<b>*bold*</b> _x_ [a](b) `c` <!channel> <@U1> @everyone @all & | \\ ~ # > \u202e ${7*7}"
LOG = "https://watch.example/alerts/log/?a=1&b=2"
KINDS = pytest.mark.parametrize("kind", OWN_SHAPES)


def message(what="It gains.", *, count=1, rule="Fast", more=0):
    lines = tuple(
        Line(what, "https://watch.example/tweets/20/?x=1&y=2", rule) for _ in range(count)
    )
    return Message("Fast <likes>", lines, more, LOG, "https://watch.example/mute/1/")


def asked(*calls, egress=LOOPBACK, total=PATIENT):
    async def run():
        async with AsyncExitStack() as stack:
            sender = await stack.enter_async_context(Sender(egress, total, total))
            return await asyncio.gather(*(sender.call(one) for one in calls))

    return uvloop.run(run())


def read_at(url, kind, **how):
    """What the answer means of whoever listens there."""
    shape, parts = OWN_SHAPES[kind], addresses(url)[kind]
    [answer] = asked(shape.request(parts, message(), "key"), **how)
    return shape.read(answer, parts)


@KINDS
@pytest.mark.parametrize(
    "alerts",
    [
        pytest.param(message(), id="one"),
        pytest.param(message(NASTY, rule=NASTY, count=3), id="nasty"),
        pytest.param(message("x" * 5000, count=10, more=7), id="long"),
        pytest.param(message("💥" * 400, rule="💥" * 80, count=10), id="emoji"),
        pytest.param(message("<&>" * 140, count=10), id="entities"),
    ],
)
def test_each_service_takes_what_its_shape_makes(kind, alerts):
    with serving() as (services, base):
        parts = addresses(base)[kind]
        [answer] = asked(OWN_SHAPES[kind].request(parts, alerts, "key"))

    assert OWN_SHAPES[kind].read(answer, parts).why == ""
    [arrived] = services.arrived
    assert arrived.service == kind
    if len(alerts.lines) > 1:
        assert (
            "more" in arrived.text
            or arrived.text.count("https:") + 1 >= len(alerts.lines)
            or (kind in ("teams", "matrix", "ntfy"))
        )


@KINDS
def test_texts_of_people_mention_no_person_and_are_no_links(kind):
    with serving() as (services, base):
        parts = addresses(base)[kind]
        asked(OWN_SHAPES[kind].request(parts, message(NASTY, rule=NASTY, count=2), "key"))
    [arrived] = services.arrived

    match kind:
        case "slack" | "google_chat":
            assert "<!channel>" not in arrived.text
            assert "<@U1>" not in arrived.text
        case "discord":
            assert arrived.body["allowed_mentions"] == {"parse": []}
            assert "[a](b)" not in arrived.text
        case "mattermost":
            assert "@all" not in arrived.text
            assert "[a](b)" not in arrived.text
        case "telegram":
            assert "&lt;b&gt;*bold*" in arrived.text
        case "matrix":
            assert arrived.body["m.mentions"] == {}
            assert "&lt;b&gt;*bold*" in arrived.body["formatted_body"]
        case "teams":
            runs = json.dumps(arrived.body)
            assert '"TextBlock"' not in runs
        case "ntfy":
            assert "markdown" not in arrived.body


@KINDS
def test_no_secret_is_in_a_repr_or_a_refusal(kind):
    parts = addresses("https://chat.example")[kind]
    secrets = [
        value
        for part in OWN_SHAPES[kind].parts
        if part.is_secret
        if (value := parts.get(part.name))
    ]
    call = OWN_SHAPES[kind].request(parts, message(), "key")
    echo = json.dumps({"error": secrets[0], "message": secrets[0], "description": secrets[0]})
    answer = Answer(status=400, error="It answered 400 Bad Request.", text=echo.encode())
    plain = Answer(status=400, error="It answered 400 Bad Request.", text=secrets[0].encode())

    texts = [repr(call), *(OWN_SHAPES[kind].read(one, parts).why for one in (answer, plain))]

    assert secrets
    for text in texts:
        assert not any(secret in text for secret in secrets), text
    assert all(secret not in OWN_SHAPES[kind].shown(parts) for secret in secrets)


@KINDS
@pytest.mark.parametrize(
    ("manner", "why"),
    [
        pytest.param(answers("500 Internal Server Error"), "500 Internal Server Error", id="500"),
        pytest.param(
            answers("302 Found", headers="Location: http://169.254.169.254/\r\n"),
            "redirects are not followed",
            id="3xx",
        ),
        pytest.param(hangs, "There was no answer within 1.5 s.", id="silent"),
        pytest.param(resets, "It closed the connection without an answer.", id="reset"),
    ],
)
def test_each_reads_a_server_that_misbehaves(kind, manner, why):
    receiver = Receiver(manner)
    try:
        reading = read_at(f"http://127.0.0.1:{receiver.port}", kind, total=HURRIED)
    finally:
        receiver.close()

    assert why in reading.why
    # aiohttp asks once more by itself where that is the same as once, as a PUT of Matrix is.
    assert receiver.connections == 1 or (kind == "matrix" and manner is resets)


@KINDS
@pytest.mark.parametrize(
    "head",
    [
        pytest.param((b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), id="head"),
        pytest.param(
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"), id="body"
        ),
    ],
)
def test_an_answer_without_end_is_cut_and_its_first_line_counts(kind, head):
    receiver = Receiver(drips(*head))
    try:
        reading = read_at(f"http://127.0.0.1:{receiver.port}", kind, total=HURRIED)
    finally:
        receiver.close()

    assert reading.why == ""


@KINDS
def test_a_429_says_how_long_to_wait(kind):
    with serving() as (services, base):
        services.refusals[kind] = Refusal(429, "later", {"Retry-After": "65"})
        reading = read_at(base, kind)

    assert reading.is_throttled
    assert reading.wait == timedelta(seconds=65)


@pytest.mark.parametrize(
    ("kind", "body", "seconds"),
    [
        ("discord", {"message": "You are being rate limited.", "retry_after": 64.57}, 64.57),
        ("telegram", {"ok": False, "description": "Too", "parameters": {"retry_after": 34}}, 34),
        ("matrix", {"errcode": "M_LIMIT_EXCEEDED", "error": "Too", "retry_after_ms": 2500}, 2.5),
        ("matrix", {"retry_after_ms": "soon"}, None),
        ("discord", {"retry_after": 1e300}, None),
        ("discord", {"retry_after": -1}, None),
        ("telegram", {"parameters": 3}, None),
        ("telegram", [1], None),
    ],
)
def test_a_wait_is_read_from_json_too(kind, body, seconds):
    answer = Answer(status=429, error="It answered 429.", text=json.dumps(body).encode())

    wait = OWN_SHAPES[kind].read(answer, addresses("https://a.example")[kind]).wait

    assert wait == (None if seconds is None else timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("kind", "reply", "why", "is_gone"),
    [
        ("slack", Refusal(403, "invalid_token"), "invalid_token. Create a new webhook", False),
        ("slack", Refusal(404, "no_service"), "no_service. Create a new webhook", True),
        ("slack", Refusal(410, "channel_is_archived"), "Restore the channel", True),
        ("discord", Refusal(404, {"message": "Unknown Webhook", "code": 10015}), "Unknown", True),
        (
            "telegram",
            Refusal(400, {"ok": False, "description": "Bad Request: chat not found"}),
            "Add the bot to the chat",
            False,
        ),
        ("ntfy", Refusal(403, {"error": "forbidden"}), "access token that may", False),
        ("matrix", Refusal(401, {"errcode": "M_UNKNOWN_TOKEN", "error": "Invalid access token"}),
         "Enter a new access token.", False),
        ("google_chat", Refusal(400, {"error": {"message": "Bad."}}), "Request: Bad.", False),
        ("teams", Refusal(502, "<html><body>Bad</body></html>"), "502 Bad Gateway.", False),
    ],
)  # fmt: skip
def test_a_refusal_has_the_service_s_words_and_what_helps(kind, reply, why, is_gone):
    with serving() as (services, base):
        services.refusals[kind] = reply
        reading = read_at(base, kind)

    assert why in reading.why
    assert reading.is_gone is is_gone


@KINDS
def test_an_address_that_is_not_public_is_not_called(kind):
    with serving() as (services, base):
        reading = read_at(base, kind, egress=Egress((), plain_http=True))

    assert "not a public address" in reading.why
    assert not services.requests


def test_matrix_shows_what_is_sent_twice_once():
    with serving() as (services, base):
        parts = addresses(base)["matrix"]
        call = OWN_SHAPES["matrix"].request(parts, message(), "channel-1-7")
        first, second = asked(call, call)

    assert first.is_yes
    assert second.is_yes
    assert len(services.arrived) == 1
