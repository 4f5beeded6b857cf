"""A delivery to real receivers, each of which misbehaves in its own way."""

import asyncio
import base64
import threading
import time
import uuid
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import pytest
import uvloop
from standardwebhooks.webhooks import Webhook

from tests.authority import Authority
from tests.events.receivers import (
    Receiver,
    answers,
    drips,
    hangs,
    leaves,
    resets,
    says,
    says_before_reading,
)
from trackers.events.delivery.claim import Claimed
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.load import Delivery
from trackers.events.delivery.post import Sender
from trackers.events.subscribers.signing_keys import new_signing_key
from trackers.xapi.keys import Secrets

# For those who answer, on however busy a machine; and for those who never do.
PATIENT, HURRIED = timedelta(seconds=30), timedelta(seconds=1.5)
LOOPBACK = (ip_network("127.0.0.0/8"),)
BODY = b'[{"topic":"tweets","type":"noop","url":"https://a.example/1","t":1}]'
# The same in all workers of xdist, since it stands in names of tests.
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ELSEWHERE = Receiver(answers())


def outgoing(callback, *, body=BODY, **secrets):
    batch = Claimed(1, 2, uuid.uuid4(), 3, [], 1, NOW, NOW)
    return Delivery(batch, callback, "application/json", body, Secrets(secrets))


def deliver(*many, egress=None, connect=PATIENT):
    """All at once, by one sender."""
    sender = Sender(egress or Egress(LOOPBACK, plain_http=True), connect, PATIENT)
    return uvloop.run(gathered((sender, many)))


async def gathered(*shares):
    """What each sender delivers, all at once."""
    async with AsyncExitStack() as stack:
        for sender, _ in shares:
            await stack.enter_async_context(sender)
        return await asyncio.gather(
            *(sender.deliver(one) for sender, many in shares for one in many)
        )


MANNERS = {
    # Nobody waits for the rest of an answer whose status is known, beyond the deadline.
    "200": (answers(body=b"thanks"), 200, ""),
    "204": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), 204, ""),
    "an answer before it read": (
        says_before_reading(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
        202,
        "",
    ),
    "less than its length": (says(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nno"), 200, ""),
    "more than its length": (
        says(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nyHTTP/1.1 500 No\r\n\r\n"),
        200,
        "",
    ),
    "a gzip that is none": (
        answers(headers="Content-Encoding: gzip\r\n", body=b"not gzip"),
        200,
        "",
    ),
    "a body in drops": (drips(b"HTTP/1.1 200 OK\r\n\r\n", b"."), 200, ""),
    "headers in drops": (drips(b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n"), 200, ""),
    "a refusal with headers in drops": (
        drips(b"HTTP/1.1 503 Busy\r\n", b"X-More: yes\r\n"),
        503,
        "It answered 503 Service Unavailable.",
    ),
    "a byte too many": (says(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!"), 200, ""),
    "letters for bytes": (
        says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nBestätigt".encode()),
        200,
        "",
    ),
    "204 with a body": (says(b"HTTP/1.1 204 No Content\r\n\r\nok"), 204, ""),
    "204 in chunks": (
        says(b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        204,
        "",
    ),
    "two lengths": (
        says(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2\r\nok\r\n0\r\n\r\n"
        ),
        200,
        "",
    ),
    "a long header": (
        says(b"HTTP/1.1 200 OK\r\nX: " + 9000 * b"a" + b"\r\nContent-Length: 2\r\n\r\nok"),
        200,
        "",
    ),
    "a space in a header's name": (
        says(b"HTTP/1.1 200 OK\r\nX Y: z\r\nContent-Length: 2\r\n\r\nok"),
        200,
        "",
    ),
    "a hint, then a byte too many": (
        says(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!"
        ),
        200,
        "",
    ),
    "a refusal with a byte too many": (
        says(b"HTTP/1.1 409 No\r\nContent-Length: 2\r\n\r\nno!"),
        409,
        "It answered 409 Conflict.",
    ),
    "hints without end": (
        drips(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        None,
        "There was no answer within 1.5 s.",
    ),
    "silence": (hangs, None, "There was no answer within 1.5 s."),
    "a reset": (resets, None, "It closed the connection without an answer."),
    "an end": (leaves, None, "It closed the connection without an answer."),
    "half a status line": (
        says(b"HTTP/1.1 20"),
        None,
        "It closed the connection without an answer.",
    ),
    "garbage": (says(b"\0\xff\r\n\r\nSSH-2.0-x\r\n\r\n"), None, "Its answer is not HTTP."),
    "a length that is none": (
        says(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        200,
        "",
    ),
    "a redirect": (
        answers("307 Temporary Redirect", headers=f"Location: {ELSEWHERE.url}\r\n"),
        307,
        "It answered 307 Temporary Redirect, and redirects are not followed.",
    ),
    "410": (answers("410 Gone"), 410, "It answered 410 Gone."),
    "429": (
        answers("429 Slow down", headers="Retry-After: 7\r\n"),
        429,
        "It answered 429 Too Many Requests.",
    ),
    "a status that nobody knows": (answers("799 Hello"), 799, "It answered 799."),
}


NEVER_ANSWER = (
    "silence",
    "headers in drops",
    "a refusal with headers in drops",
    "hints without end",
)


@pytest.fixture(scope="module")
def delivered():
    """What came of a delivery to each of them, all at once; and they themselves, by their names."""
    receivers = {name: Receiver(manner) for name, (manner, *_) in MANNERS.items()}
    egress = Egress(LOOPBACK, plain_http=True)
    quick = [name for name in MANNERS if name not in NEVER_ANSWER]
    ended = uvloop.run(
        gathered(
            (Sender(egress, PATIENT, PATIENT), [outgoing(receivers[name].url) for name in quick]),
            (
                Sender(egress, PATIENT, HURRIED),
                [outgoing(receivers[name].url) for name in NEVER_ANSWER],
            ),
        )
    )
    yield dict(zip((*quick, *NEVER_ANSWER), ended, strict=True)), receivers
    for one in receivers.values():
        one.close()


@pytest.mark.parametrize("name", MANNERS)
def test_the_status_decides_and_a_failure_is_said_in_a_sentence(delivered, name):
    ended, receivers = delivered
    _, status, error = MANNERS[name]

    outcome = ended[name]

    assert (outcome.status, outcome.error) == (status, error)
    assert outcome.delivered is (status is not None and status < 300)
    assert receivers[name].connections == 1
    assert len(outcome.answer) <= 1024


def test_one_deadline_covers_a_whole_delivery(delivered):
    ended, _ = delivered

    for name in NEVER_ANSWER:
        assert 0.9 * HURRIED <= ended[name].took < PATIENT


def test_an_endless_answer_delays_no_delivery(delivered):
    ended, _ = delivered

    assert ended["a body in drops"].took < PATIENT / 2


def test_a_redirect_is_not_followed(delivered):
    assert ELSEWHERE.connections == 0


def test_an_answer_is_stored_as_it_was_sent(delivered):
    ended, _ = delivered

    assert ended["a gzip that is none"].answer == "not gzip"
    assert ended["less than its length"].answer == "no"


def test_retry_after_of_an_answer_is_stored(delivered):
    ended, _ = delivered

    assert ended["429"].retry_after == timedelta(seconds=7)
    assert ended["410"].retry_after is None


def test_the_request_is_accepted_by_the_published_receivers(delivered):
    secrets = [new_signing_key(), new_signing_key()]
    receiver = Receiver(answers())
    own = {"X-Room": "7", "content-type": "text/plain", "Host": "elsewhere"}

    [outcome] = deliver(outgoing(receiver.url, uuid="démo", signing=secrets, headers=own))

    assert outcome.delivered
    [got] = receiver.got
    assert got.line == "POST /hook HTTP/1.1"
    assert got.body == BODY
    assert got.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "x-room": "7",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
        "user-agent": "tweetwatch",
        "accept": "*/*",
        "accept-encoding": "identity",
        "authorization": "Basic " + base64.b64encode("démo:x".encode()).decode(),
        "webhook-id": str(outcome.batch.uid),
        "webhook-timestamp": got.headers["webhook-timestamp"],
        "webhook-signature": got.headers["webhook-signature"],
    }
    for secret in secrets:
        assert Webhook(secret).verify(got.body, got.headers)


def one_after_the_other(receiver, *, wait):
    """Two deliveries by one sender, with a wait between them; what came of each."""
    sender = Sender(Egress(LOOPBACK, plain_http=True), PATIENT, PATIENT)

    async def run():
        async with sender:
            first = await sender.deliver(outgoing(receiver.url))
            await wait()
            return first, await sender.deliver(outgoing(receiver.url))

    return uvloop.run(run())


async def at_once():
    pass


def test_a_connection_is_used_for_the_next_batch():
    def keeps(conn, receiver):
        while receiver.read(conn):
            conn.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    receiver = Receiver(keeps)

    assert [one.status for one in one_after_the_other(receiver, wait=at_once)] == [204, 204]
    assert (receiver.connections, len(receiver.got)) == (1, 2)


def test_bytes_sent_unasked_are_not_the_answer_to_the_next_batch():
    sent = threading.Event()

    def says_more_later(conn, receiver):
        while receiver.read(conn):
            conn.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
            time.sleep(0.05)
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            sent.set()

    async def until_it_came():
        await asyncio.to_thread(sent.wait)
        # It was sent, and is read with the next turns of the loop.
        await asyncio.sleep(0.05)

    receiver = Receiver(says_more_later)

    assert [one.status for one in one_after_the_other(receiver, wait=until_it_came)] == [500, 500]
    assert receiver.connections == 2


def test_a_header_with_a_line_break_is_not_sent():
    receiver = Receiver(answers())

    [one] = deliver(outgoing(receiver.url, headers={"X-Room": "7\r\nX-Evil: 1"}))

    assert not one.delivered
    assert receiver.got == []


def test_the_proxy_of_the_environment_is_not_used(monkeypatch):
    proxy, receiver = Receiver(answers()), Receiver(answers())
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)

    [one] = deliver(outgoing(receiver.url))

    assert one.delivered
    assert proxy.connections == 0


def test_a_receiver_that_drops_packets_is_waited_for_within_the_connect_limit(firewall):
    [one] = deliver(outgoing(f"http://127.0.0.1:{firewall.port}/"), connect=timedelta(seconds=0.3))

    assert one.error == "There was no connection within 0.3 s."


def test_a_receiver_that_never_starts_tls_is_waited_for_within_the_connect_limit():
    receiver = Receiver(hangs)
    callback = receiver.url.replace("http:", "https:")

    [one] = deliver(outgoing(callback), connect=timedelta(seconds=0.3))
    receiver.close()

    assert one.error == "There was no connection within 0.3 s."


def test_an_endless_answer_is_cut_off():
    receiver = Receiver(says(b"HTTP/1.1 500 No\r\n\r\n" + b"x" * 5_000_000))

    [one] = deliver(outgoing(receiver.url))

    assert (one.status, len(one.answer)) == (500, 1024)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize(
    ("named", "trusted", "why"),
    [
        pytest.param("localhost", True, "", id="its own"),
        pytest.param("elsewhere.example", True, "ostname mismatch", id="another host's"),
        pytest.param("localhost", False, "unable to get local issuer", id="a stranger's"),
    ],
)
def test_a_certificate_must_match_the_name_and_an_authority(authority, named, trusted, why):
    receiver = Receiver(answers(), certificate=authority.certify(named))
    egress = Egress(LOOPBACK, ca_file=str(authority.file) if trusted else "")

    [outcome] = deliver(outgoing(receiver.at("localhost")), egress=egress)

    assert outcome.delivered is (not why)
    assert why in outcome.error
    assert len(receiver.got) == outcome.delivered


def test_http_is_refused_unless_it_is_allowed():
    receiver = Receiver(answers())

    [one] = deliver(outgoing(receiver.url), egress=Egress(LOOPBACK))

    assert one.error == (
        "Its address does not start with https://, and EGRESS_PLAIN_HTTP is not set."
    )
    assert receiver.connections == 0
