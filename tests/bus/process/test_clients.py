"""The published clients' requests, byte by byte, and the answers on which they rely.

As their sources send them: Ruby with Faraday and typhoeus, Go with net/http, Elixir with hackney.
"""

import base64
import json

import pytest

from tests.bus.conftest import ROOT

# The server's database is a clone of the tests' own, which is made for those who ask for it.
pytestmark = pytest.mark.django_db


def b64(text):
    return base64.b64encode(text.encode()).decode()


def request(first, *headers, body=b""):
    return "\r\n".join([f"{first} HTTP/1.1", *headers, "Connection: close", "", ""]).encode() + body


def from_ruby(token, method, path, body=None, *, json_type=False):
    headers = [
        "Host: bus.example",
        f"Authorization: Basic {b64(token + ':x')}",
        "User-Agent: routemaster-client/ruby-2.4.0, v3.1.0",
        "Accept: */*",
    ]
    if json_type or body is not None:
        headers.append("Content-Type: application/json")
    if body is not None:
        headers.append(f"Content-Length: {len(body)}")
    return request(f"{method} {path}", *headers, body=body or b"")


def from_go(token, method, path, body=b"null"):
    """No Content-Type at all, and `null` where there is nothing to say."""
    return request(
        f"{method} {path}",
        "Host: bus.example",
        "User-Agent: Go-http-client/1.1",
        f"Content-Length: {len(body)}",
        f"Authorization: Basic {b64(token + ':')}",
        "Accept-Encoding: gzip",
        body=body,
    )


def from_elixir(token, method, path, body=None):
    headers = [
        f"authorization: Basic {b64(token + ':x')}",
        "user-agent: routemaster-client-ex-v0.3.0",
        "Host: bus.example",
    ]
    if body is not None:
        headers += ["content-type: application/json", f"Content-Length: {len(body)}"]
    return request(f"{method} {path}", *headers, body=body or b"")


def test_the_ruby_client_publishes_subscribes_and_watches(bus, topic):
    publisher, receiver = bus.client(), bus.client()

    def ask(client, *parts, **given):
        return bus.send(from_ruby(client.token, *parts, **given))

    def listed(client, path, name, value):
        found = ask(client, "GET", path, json_type=True).json()
        return [one for one in found if one[name] == value]

    assert ask(publisher, "GET", "/pulse").status == 204
    subscription = (
        f'{{"topics":["{topic}"],"callback":"https://app.example.com/events",'
        '"timeout":60000,"max":500,"uuid":"john_doe"}'
    )
    assert ask(receiver, "POST", "/subscription", subscription.encode()).status == 204

    event = b'{"type":"create","url":"https://app.example.com/widgets/123","timestamp":null}'
    pushed = ask(publisher, "POST", f"/topics/{topic}", event)
    assert (pushed.status, pushed.body) == (200, b"")
    with_data = (
        b'{"type":"noop","url":"https://app.example.com/widgets/123","timestamp":1479736216000,'
        b'"data":{"foo":"bar"}}'
    )
    assert ask(publisher, "POST", f"/topics/{topic}", with_data).status == 200

    [told] = listed(publisher, "/topics", "name", topic)
    assert told == {"name": topic, "publisher": publisher.name, "events": 2}
    [subscriber] = listed(receiver, "/subscriptions", "subscriber", receiver.name)
    assert subscriber | {"events": None} == {
        "subscriber": receiver.name,
        "uuid": "john_doe",
        "callback": "https://app.example.com/events",
        "max_events": 500,
        "timeout": 60000,
        "topics": [topic],
        "events": None,
    }
    assert subscriber["events"] | {"oldest": 0} == {"sent": 0, "queued": 2, "oldest": 0}
    assert type(subscriber["events"]["oldest"]) is int

    assert ask(receiver, "DELETE", f"/subscriber/topics/{topic}").status == 204
    assert ask(receiver, "DELETE", f"/subscriber/topics/{topic}").status == 404
    assert ask(receiver, "DELETE", "/subscriber").status == 204
    assert ask(publisher, "DELETE", f"/topics/{topic}").status == 204
    assert ask(publisher, "DELETE", f"/topics/{topic}").status == 404
    stored = bus.rows(
        "SELECT e.type, url, t, data FROM trackers_event e JOIN trackers_topic topic"
        " ON topic.id = topic_id WHERE name = %s ORDER BY e.id",
        topic,
    )
    assert stored[1] == (
        "noop",
        "https://app.example.com/widgets/123",
        1479736216000,
        {"foo": "bar"},
    )
    assert stored[0][3] is None


def test_the_ruby_client_creates_lists_and_deletes_tokens(bus):
    made = bus.send(from_ruby(ROOT, "POST", "/api_tokens", b'{"name":"rubys","token":null}'))
    token = made.json()["token"]
    assert (made.status, made.json()["name"]) == (201, "rubys")

    listed = bus.send(from_ruby(ROOT, "GET", "/api_tokens"))

    assert listed.status == 200
    [own] = [one for one in listed.json() if one["name"] == "rubys"]
    # Enough to know it by; nobody gets the whole one again.
    assert own["token"] == f"{token[: len('rubys--') + 4]}…"
    assert bus.send(from_ruby(ROOT, "DELETE", f"/api_tokens/{token}")).status == 204
    assert bus.send(from_ruby(ROOT, "DELETE", f"/api_tokens/{token}")).status == 204
    assert bus.send(from_ruby(token, "GET", "/pulse")).status == 401


def test_the_go_client_works_without_content_type_and_with_nulls(bus, topic):
    def ask(token, *parts):
        return bus.send(from_go(token, *parts))

    made = ask(ROOT, "POST", "/api_tokens", b'{"name":"gopher"}')
    assert made.status == 201
    token = made.json()["token"]
    assert type(ask(ROOT, "GET", "/api_tokens").json()) is list

    subscription = {"topics": [topic], "callback": "https://localhost:17892", "uuid": "demo"}
    assert ask(token, "POST", "/subscription", json.dumps(subscription).encode()).status == 204
    event = b'{"type":"update","url":"https://localhost/u/1","timestamp":1479736216000,"data":{}}'
    assert ask(token, "POST", f"/topics/{topic}", event).status == 200
    [told] = [one for one in ask(token, "GET", "/topics").json() if one["name"] == topic]
    assert told == {"name": topic, "publisher": "gopher", "events": 1}

    assert ask(token, "DELETE", f"/subscriber/topics/{topic}").status == 204
    assert ask(token, "DELETE", "/subscriber").status == 204
    # Its spelling, and the README's.
    assert ask(token, "DELETE", f"/topic/{topic}").status == 204
    assert ask(ROOT, "DELETE", f"/api_tokens/{token}").status == 204


def test_the_elixir_client_sends_nulls_and_gets_200(bus, topic):
    client = bus.client()

    def ask(*parts):
        return bus.send(from_elixir(client.token, *parts))

    subscription = (
        f'{{"uuid":"elixir","topics":["{topic}"],"timeout":null,"max":null,'
        '"callback":"https://drain.example.com/events/path"}'
    )
    assert ask("POST", "/subscription", subscription.encode()).status == 204
    event = b'{"url":"https://example.com/1","type":"create","timestamp":1479736216,"data":null}'
    assert ask("POST", f"/topics/{topic}", event).status == 200

    told = client.listed()
    assert (told["timeout"], told["max_events"], told["events"]["queued"]) == (500, 100, 1)
    assert ask("GET", "/subscribers").status == 200
    assert ask("DELETE", f"/topics/{topic}").status == 204


def test_a_chunked_body_is_read(bus, topic):
    client = bus.client()
    event = b'{"type":"create","url":"https://example.com/1"}'
    chunks = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (9, event[:9], len(event) - 9, event[9:])
    sent = request(
        f"POST /topics/{topic}",
        "Host: bus.example",
        "Transfer-Encoding: chunked",
        f"Authorization: Basic {b64(client.token + ':')}",
        body=chunks,
    )

    assert bus.send(sent).status == 200


@pytest.mark.parametrize("token", ["with:colon:inside", "plain"])
def test_a_chosen_token_may_contain_colons(bus, token):
    fields = {"name": f"own-{token}", "token": token}

    made = bus.ask("POST", "/api_tokens", fields, token=ROOT)

    assert (made.status, made.json()) == (201, fields)
    assert bus.ask("GET", "/pulse", token=token).status == 204
    assert bus.ask("GET", "/pulse", token=f"{token}s").status == 401
