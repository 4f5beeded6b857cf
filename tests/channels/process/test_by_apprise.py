"""Channels at services of the long tail, by Apprise, which only its own process imports."""

import asyncio
import json
import logging
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from importlib.util import find_spec
from ipaddress import ip_network

import pytest
import requests

from tests.authority import Authority
from tests.channels.apprise_addresses import ADDRESSES, TOKEN
from tests.channels.sending import due, sending, tell, until
from tests.conftest import PROJECT
from tests.events.receivers import Receiver, answers, drips, hangs, leaves
from trackers.channels.address import place_of
from trackers.channels.by_apprise import calls
from trackers.channels.by_apprise.calls import AppriseCalls
from trackers.channels.by_apprise.schemes import SCHEMES
from trackers.channels.message import Line, Message
from trackers.channels.models import Channel, ChannelMessage
from trackers.channels.shapes import SHAPES
from trackers.events.delivery.egress import Egress
from trackers.events.delivery.post import DeliveryProgress
from trackers.xapi.keys import Secrets

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_spec("apprise") is None, reason="requirements-channels.txt"),
]
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
ALLOWED = Egress(LOOPBACK, plain_http=True)
APPRISE = SHAPES["apprise"]
PATIENT = timedelta(seconds=60)
MESSAGE = Message(
    "Fast likes",
    (Line("@ada's tweet gains 5,000 likes an hour.", "https://watch.example/tweets/20/", "Fast"),),
    12,
    "https://watch.example/alerts/log/",
    "https://watch.example/alerts/mute/x/",
)
OWN_SERVERS = [scheme for scheme, url in ADDRESSES.items() if "localhost" in url]
# Every name is a server on this machine, and what connects anywhere else fails the test.
EVERYTHING_IS_HERE = """
import socket
looked_up = []
socket.getaddrinfo = lambda host, port, *_, **__: looked_up.append(host) or [
    (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
"""


def ask(url, *, egress=ALLOWED, connect=PATIENT, total=PATIENT):
    """What one message came to, and how it reads."""
    parts = {"url": url}
    call = APPRISE.request(parts, MESSAGE, "key")

    async def run():
        sender = AppriseCalls(egress, connect=connect, total=total, wait=PATIENT)
        return await sender.call(call, DeliveryProgress())

    answer = asyncio.run(run())
    return answer, APPRISE.read(answer, parts)


@contextmanager
def receiving(manner, **how):
    receiver = Receiver(manner, **how)
    try:
        yield receiver
    finally:
        receiver.close()


def at(scheme, receiver):
    return ADDRESSES[scheme].format(port=receiver.port)


@pytest.mark.parametrize("scheme", [one for one in OWN_SERVERS if not one.endswith("s")])
def test_a_service_of_ones_own_gets_the_message(scheme):
    with receiving(answers(body=b"{}")) as receiver:
        answer, reading = ask(at(scheme, receiver))

    [got] = receiver.got
    assert "5,000 likes" in got.body.decode().replace("%2C", ",").replace("+", " ")
    if scheme != "synology":
        # It looks for a word of its own in the answer.
        assert (answer.status, reading.why) == (200, "")


def test_all_schemes_are_in_apprise_and_go_through_the_guard():
    """In one process, in which every name is on this machine, where nothing may be called."""
    assert ADDRESSES.keys() == SCHEMES.keys()
    asked = {
        "message": asdict(MESSAGE), "allowed": [], "plain_http": True, "ca_file": "",
        "connect": 60, "total": 60,
    }  # fmt: skip
    script = (
        f"{EVERYTHING_IS_HERE}\nimport json, sys\n"
        "from trackers.channels.by_apprise.child import _send_guarded\n"
        f"asked = {asked!r}\n"
        "urls = json.load(sys.stdin)\n"
        "print(json.dumps({scheme: _send_guarded({**asked, 'url': url})['error'] "
        "for scheme, url in urls.items()}))\n"
        "plugins = {name for name in sys.modules if name.startswith('apprise.plugins.')}\n"
        "print(len(plugins))"
    )
    urls = {scheme: url.format(port=9) for scheme, url in ADDRESSES.items()}
    ran = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(urls), capture_output=True, text=True,
        cwd=PROJECT, check=True,
    )  # fmt: skip
    errors, plugins = ran.stdout.splitlines()[-2:]
    errors = json.loads(errors)

    assert {scheme for scheme, error in errors.items() if "is not a public" not in error} == set()
    # And the base, and what one module imports of another.
    assert int(plugins) <= len(set(SCHEMES.values())) + 3


@pytest.mark.parametrize(
    ("status", "headers", "body", "why", "wait"),
    [
        ("429 Too Many", "Retry-After: 77\r\n", b'{"error": "slow down"}',
         "It answered 429 Too Many Requests: slow down.", 77),
        ("500 Sorry", "", b"<html>", "It answered 500 Internal Server Error.", None),
        ("401 No", "", b'{"error":"Unauthorized","errorDescription":"bad token %s"}'
         % TOKEN.encode(), "It answered 401 Unauthorized: bad token ….", None),
        ("302 Found", "Location: http://127.0.0.1:1/\r\n", b"",
         "It answered 302 Found, and redirects are not followed.", None),
    ],
)  # fmt: skip
def test_a_refusal_has_its_status_and_what_the_service_says(status, headers, body, why, wait):
    with receiving(answers(status, headers=headers, body=body)) as receiver:
        _, reading = ask(at("gotify", receiver))

    assert reading.why == why
    assert reading.wait == (None if wait is None else timedelta(seconds=wait))
    assert reading.is_throttled == (status[:3] == "429")
    # It is not tried again by Apprise.
    assert receiver.connections == 1


@pytest.mark.parametrize(
    ("manner", "why"),
    [
        (hangs, "There was no answer within 4 s."),
        (leaves, "It closed the connection without an answer."),
        (drips(b"HTTP/1.1 ", b"2"), "There was no answer within 4 s."),
    ],
)
def test_a_service_without_an_answer_is_left(manner, why):
    with receiving(manner) as receiver:
        began = time.monotonic()
        _, reading = ask(at("gotify", receiver), total=timedelta(seconds=4))

    assert reading.why == why
    assert time.monotonic() - began < 30


def test_an_answer_that_never_ends_is_believed_by_its_status():
    first = b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"
    with receiving(drips(first, b"x" * 100)) as receiver:
        answer, reading = ask(at("gotify", receiver))
    assert (answer.status, reading.why) == (200, "")


@pytest.mark.parametrize(
    ("query", "word"),
    [("verify=no", "certificates"), ("redirect=yes", "redirects")],
)
def test_options_of_an_address_are_refused(query, word):
    with receiving(answers()) as receiver:
        _, reading = ask(f"{at('gotify', receiver)}?{query}")
    assert word in reading.why
    assert receiver.connections == 0


def test_an_address_without_its_parts_is_refused():
    _, reading = ask("pagertree://x")
    assert reading.why.startswith("Apprise cannot read this address")


def test_own_retries_and_deadlines_of_an_address_are_not_used():
    with receiving(answers("500 Sorry")) as receiver:
        ask(f"{at('gotify', receiver)}?retry=5&wait=0&rto=0.001&cto=0.001")
    assert len(receiver.got) == 1


def test_several_recipients_are_several_channels():
    with receiving(answers()) as receiver:
        _, reading = ask(f"{at('signal', receiver)}/+4912345678903")
    assert "several recipients" in reading.why
    assert receiver.connections == 0


def test_plain_http_and_this_machine_are_refused_unless_they_are_allowed():
    with receiving(answers()) as receiver:
        _, plain = ask(at("gotify", receiver), egress=Egress(LOOPBACK))
        _, here = ask(at("gotify", receiver), egress=Egress(plain_http=True))
    assert "EGRESS_PLAIN_HTTP" in plain.why
    assert "EGRESS_ALLOW" in here.why
    assert receiver.connections == 0


def test_certificates_are_checked_also_those_of_ones_own(tmp_path):
    authority = Authority(tmp_path)
    with receiving(answers(body=b"{}"), certificate=authority.certify("localhost")) as receiver:
        _, unknown = ask(at("gotifys", receiver))
        _, known = ask(
            at("gotifys", receiver),
            egress=Egress(LOOPBACK, ca_file=str(authority.file)),
        )
    assert unknown.why.startswith("Its certificate is not accepted: ")
    assert known.why == ""


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with receiving(answers(body=b"{}")) as receiver:
        _, reading = ask(at("gotify", receiver))
    assert reading.why == ""


def test_other_requests_of_the_process_go_on():
    """A look-up of X on this machine, by requests, while Apprise is refused it."""
    with receiving(answers(body=b"{}")) as receiver:
        refused = []
        thread = threading.Thread(
            target=lambda: refused.append(ask(at("gotify", receiver), egress=Egress()))
        )
        thread.start()
        while thread.is_alive():
            assert requests.get(receiver.url, timeout=60).status_code == 200
            time.sleep(0.05)
        thread.join()
    assert refused[0][1].why


def test_apprise_that_ends_by_itself_is_no_answer(monkeypatch):
    monkeypatch.setattr(calls, "_COMMAND", (sys.executable, "-c", "raise SystemExit(1)"))
    _, reading = ask(ADDRESSES["prowl"])
    assert reading.why == "Apprise ended without an answer."


def test_a_channel_is_sent_to_and_no_log_has_its_address(caplog):
    caplog.set_level(logging.DEBUG)
    manners = [answers("500 Sorry", body=b"sorry"), answers(body=b"{}")]
    with receiving(lambda *given: manners[0](*given)) as receiver:
        parts = Secrets({"url": at("gotify", receiver)})
        chat = Channel.objects.create(
            name="phones", kind="apprise", address=parts, place=place_of("apprise", parts)
        )
        tell(chat)
        with sending():
            until(lambda: Channel.objects.filter(failing_since__isnull=False, claim=None).exists())
            manners.pop(0)
            due()
            until(lambda: ChannelMessage.objects.filter(state="sent").exists())

    chat.refresh_from_db()
    assert (chat.place, chat.reason) == ("gotify://…", "")
    rows = [*Channel.objects.all(), *ChannelMessage.objects.all()]
    texts = caplog.text + repr(chat) + "".join(f"{row.__dict__}" for row in rows)
    assert TOKEN not in texts
