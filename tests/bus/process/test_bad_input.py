"""What is malformed in ways that no description knows gets 400 and a sentence, and stores nothing.

What is against the description of a call is for `test_fuzz.py`.
"""

import base64
import json
import socket

import hypothesis
import pytest
from hypothesis import strategies as st

from tests.bus.conftest import PATIENCE, ROOT, Answer, basic
from tests.environment.connections import answer_to, begin_file, connected
from trackers.bus.bodies import PublicationIn

pytestmark = pytest.mark.django_db

URL = "https://shop.example/orders/1"
EVENT = {"type": "create", "url": URL}
SUBSCRIPTION = {"topics": ["orders"], "callback": URL, "uuid": "hello"}
DEEP = b'{"type":"create","url":"https://a.example/","data":%s}'
NEST = b'{"a":' * 2000 + b"1" + b"}" * 2000
BODIES = {
    "nothing": b"",
    "blank": b" \n",
    "not JSON": b"type=create",
    "cut": b'{"type": "create", "url"',
    "two": b'{"type":"create"}{}',
    "null": b"null",
    "list": b"[]",
    "text": b'"create"',
    "number": b"5",
    "truth": b"true",
    "no UTF-8": b'{"type":"create","url":"https://a.example/\xff"}',
    "UTF-16": '{"type":"create"}'.encode("utf-16"),
    "BOM": b'\xef\xbb\xbf{"type":"create","url":"https://a.example/"}',
    "half a character": DEEP % b'{"a":"\\ud800"}',
    "not a number": DEEP % b'{"a":NaN}',
    "infinite": DEEP % b'{"a":Infinity}',
    "too large a number": DEEP % b'{"a":1e999}',
    "NUL": DEEP % b'{"a":"\\u0000"}',
    "NUL in a name": DEEP % b'{"a":[{"\\u0000":1}]}',
    "deep": DEEP % NEST,
    "large": DEEP % b'{"a":"%s"}' % (b"x" * 300_000),
    "data too large": DEEP % b'{"a":"%s"}' % (b"x" * 505),
}
EVENTS = {
    "type with a newline": {"type": "create\n"},
    "http": {"url": "http://shop.example/"},
    "ftp": {"url": "ftp://shop.example/"},
    "no scheme": {"url": "shop.example/orders"},
    "no host": {"url": "https:///orders"},
    "query": {"url": f"{URL}?a=1"},
    "empty query": {"url": f"{URL}?"},
    "newline": {"url": f"{URL}\n"},
    "newline in front": {"url": f"http://x\n{URL}"},
    "header": {"url": f"{URL}\r\nX-Evil: 1"},
    "tab": {"url": "https://shop\t.example/"},
    "blank": {"url": "https://shop.example/a b"},
    "backslash": {"url": "https://shop.example\\@evil.example/"},
    "user": {"url": "https://ada:hush@shop.example/"},
    "port": {"url": "https://shop.example:99999/"},
    "port zero": {"url": "https://shop.example:0/"},
    "port of letters": {"url": "https://shop.example:http/"},
    "bracket": {"url": "https://[::1/"},
    "no ASCII": {"url": "https://shöp.example/"},
    "NUL in url": {"url": "https://shop.example/\0"},
    "too long": {"url": "https://shop.example/" + "x" * 1024},
    "timestamp beyond bigint": {"timestamp": 2**63},
    "timestamp beyond all": {"timestamp": 10**400},
}
SUBSCRIPTIONS = {
    "topic with a newline": {"topics": ["orders\n"]},
    "callback by http": {"callback": "http://shop.example/"},
    "callback with a query": {"callback": f"{URL}?token=1"},
    "callback with a newline": {"callback": f"{URL}\n"},
    "callback too long": {"callback": "https://shop.example/" + "x" * 2000},
    "uuid with a newline": {"uuid": "hello\n"},
    "max beyond all": {"max": 10**400},
}
TOKENS = {
    "name is empty": {"name": ""},
    "name with capitals": {"name": "Shop"},
    "name with a newline": {"name": "shop\n"},
    "name too long": {"name": "s" * 65},
    "our name": {"name": "tweetwatch"},
    "token is empty": {"name": "shop", "token": ""},
    "token with a blank": {"name": "shop", "token": "a b"},
    "token with a newline": {"name": "shop", "token": "ab\n"},
    "token too long": {"name": "shop", "token": "s" * 65},
}
CALLS = [
    *((f"event {name}", "/topics/orders", body) for name, body in BODIES.items()),
    *((f"event {name}", "/topics/orders", EVENT | more) for name, more in EVENTS.items()),
    *((f"subscription {name}", "/subscription", body) for name, body in BODIES.items()),
    *(
        (f"subscription {name}", "/subscriber", SUBSCRIPTION | more)
        for name, more in SUBSCRIPTIONS.items()
    ),
]
NAMES = ["Orders", "orders2", "o-o", "o" * 65, "orders%0A", "%0Aorders", "%00", "%FF", "ö", ".."]


@pytest.fixture(scope="module")
def client(running_bus):
    return running_bus.client("malformed")


def test_a_malformed_body_is_400_with_a_sentence_and_stores_nothing(bus, client):
    before = bus.state()

    wrong = []
    for case, path, body in CALLS:
        answer = client.ask("POST", path, body)
        if answer.status != 400 or not answer.sentence.endswith("."):
            wrong.append((case, answer.status, answer.body))

    assert not wrong
    assert bus.state() == before


def test_a_malformed_token_is_400_with_a_sentence_and_not_created(bus, client):
    before = bus.state()

    for case, body in (*TOKENS.items(), *BODIES.items()):
        answer = bus.ask("POST", "/api_tokens", body, token=ROOT)
        assert (answer.status, answer.sentence[-1:]) == (400, "."), case
    taken = {"name": "another", "token": client.token}
    assert bus.ask("POST", "/api_tokens", taken, token=ROOT).status == 400

    assert bus.state() == before


@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_topic_name_is_neither_created_nor_found(bus, client, name):
    before = bus.state()
    sent = f"/topics/{name}".encode()

    def ask(method, body):
        head = f"{method} ".encode() + sent + b" HTTP/1.1\r\nHost: b\r\nConnection: close\r\n"
        who = f"Authorization: {basic(client.token)}\r\nContent-Length: {len(body)}\r\n\r\n"
        return bus.send(head + who.encode() + body).status

    assert ask("POST", json.dumps(EVENT).encode()) == 400
    assert ask("DELETE", b"") in (400, 404)
    assert client.ask("DELETE", "/subscriber/topics/nobodys").status == 404
    assert bus.state() == before


def test_the_largest_allowed_event_is_stored_unchanged(bus, topic):
    client, long = bus.client(), "l" * (64 - len(topic)) + topic
    data = {"a": "é" * 252}
    event = {"type": "noop", "url": "https://shop.example/" + "x" * 1003, "data": data}
    last = 253_402_300_799_999
    deepest = json.loads(b'{"a":' * 80 + b"1" + b"}" * 80)
    names = [f"{topic}_{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}" for n in range(676)]
    callback = "https://shop.example/" + "x" * 1979

    assert len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()) == 512
    assert client.publish(long, **event, timestamp=last).status == 200
    assert client.publish(long, data=deepest, timestamp=1).status == 200
    wanted = {"callback": callback, "uuid": "~" * 200, "timeout": 3_600_000, "max": 10_000}
    assert client.subscribe(*names, long, **wanted).status == 204

    stored = bus.rows(
        "SELECT url, t, data FROM trackers_event e JOIN trackers_topic topic"
        " ON topic.id = topic_id WHERE name = %s ORDER BY e.id",
        long,
    )
    assert stored == [(event["url"], last, data), ("https://shop.example/orders/1", 1, deepest)]
    told = client.listed()
    assert (told["topics"], told["callback"]) == (sorted([*names, long]), callback)
    assert (told["timeout"], told["max_events"]) == (3_600_000, 10_000)


def test_http_callbacks_are_accepted_where_the_settings_allow_them(settings):
    settings.EGRESS_PLAIN_HTTP = True

    taken = PublicationIn(type="create", url="http://127.0.0.1:8000/a")

    assert taken.url == "http://127.0.0.1:8000/a"


def test_an_incomplete_body_is_refused(bus, client):
    before = bus.state()
    body = json.dumps(EVENT).encode()
    head = (
        f"POST /topics/orders HTTP/1.1\r\nHost: b\r\nConnection: close\r\n"
        f"Authorization: {basic(client.token)}\r\nContent-Length: {len(body) + 9}\r\n\r\n"
    ).encode()

    with socket.create_connection(("127.0.0.1", bus.port), timeout=PATIENCE) as line:
        line.sendall(head + body)
        line.shutdown(socket.SHUT_WR)
        raw = b"".join(iter(lambda: line.recv(65536), b""))

    assert Answer(raw).status == 400
    assert bus.state() == before


@hypothesis.settings(max_examples=40, database=None)
@hypothesis.given(body=st.binary(max_size=100))
def test_arbitrary_bytes_are_400(running_bus, client, body):
    assert client.ask("POST", "/topics/orders", body).status == 400


@hypothesis.settings(max_examples=40, database=None)
@hypothesis.given(told=st.binary(max_size=40) | st.text("abc:=\0é", max_size=9).map(str.encode))
def test_arbitrary_credentials_are_401(running_bus, told):
    head = b"GET /pulse HTTP/1.1\r\nHost: b\r\nConnection: close\r\nAuthorization: Basic "

    assert running_bus.send(head + base64.b64encode(told) + b"\r\n\r\n").status == 401


def test_a_large_body_of_a_stranger_is_refused_unread(bus):
    with connected(bus.port) as line:
        begin_file(line, "/topics/orders")

        assert answer_to(line)[0] == 401
