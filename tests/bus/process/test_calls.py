"""What each call does, who may make it, and with which status it answers."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import OperationalError
from django.test import RequestFactory

from tests.bus.conftest import PATIENCE, ROOT, basic
from tests.chaos.ground import wait_until
from trackers.bus import tokens
from trackers.bus.urls import api

pytestmark = pytest.mark.django_db

OPEN, FOR_ROOT, FOR_CLIENT, FOR_BOTH = "open", "root", "client", "client or root"
NEEDS = {
    OPEN: "without credentials",
    FOR_ROOT: "needs the root token",
    FOR_CLIENT: "needs a client's token. ",
    FOR_BOTH: "needs a client's token or the root token",
}
CALLS = [
    ("GET", "/api_tokens", FOR_ROOT),
    ("POST", "/api_tokens", FOR_ROOT),
    ("DELETE", "/api_tokens/nobodys", FOR_ROOT),
    ("POST", "/topics/nobodys", FOR_CLIENT),
    ("GET", "/topics", FOR_BOTH),
    ("DELETE", "/topics/nobodys", FOR_BOTH),
    ("DELETE", "/topic/nobodys", FOR_BOTH),
    ("POST", "/subscription", FOR_CLIENT),
    ("POST", "/subscriber", FOR_CLIENT),
    ("DELETE", "/subscriber", FOR_BOTH),
    ("DELETE", "/subscription", FOR_BOTH),
    ("DELETE", "/subscriber/topics/nobodys", FOR_BOTH),
    ("GET", "/subscriptions", FOR_BOTH),
    ("GET", "/subscribers", FOR_BOTH),
    ("GET", "/pulse", FOR_BOTH),
    ("GET", "/pulse/scaling", FOR_BOTH),
    ("GET", "/health", OPEN),
    ("GET", "/health/ping", OPEN),
    ("GET", "/health/ping.json", OPEN),
]


def test_each_call_needs_the_right_token(bus):
    tokens = {"": None, "wrong": "wrong", FOR_ROOT: ROOT, FOR_CLIENT: bus.client().token}
    for method, path, whose in CALLS:
        for brought, token in tokens.items():
            answer = bus.ask(method, path, b"{}" if method == "POST" else None, token=token)

            allowed = not brought if whose == OPEN else bool(brought) and brought in whose
            assert (answer.status == 401) is not allowed, (method, path, brought)
            if not allowed:
                assert answer.headers["www-authenticate"] == "Basic"
                assert NEEDS[whose] in answer.sentence


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/nothing"),
        ("GET", "/topics/"),
        ("POST", "/subscription/"),
        ("PUT", "/subscription"),
        ("POST", "/topics"),
        ("GET", "/topics/orders"),
        ("POST", "/topics/orders/more"),
        ("DELETE", "/api_tokens"),
        ("OPTIONS", "/topics"),
        ("GET", "/admin/"),
        ("GET", "//topics"),
    ],
)
def test_unknown_addresses_are_404_and_never_redirect(bus, method, path):
    answer = bus.ask(method, path, token=ROOT)

    assert (answer.status, answer.body) == (404, b"")


def test_health_and_pulse_answer(bus):
    assert bus.ask("GET", "/health").json() == {}
    assert list(bus.ask("GET", "/health/ping").json()) == ["pong"]
    pulse = bus.ask("GET", "/pulse", token=ROOT)
    assert (pulse.status, pulse.body, "content-length" in pulse.headers) == (204, b"", False)
    head = bus.ask("HEAD", "/topics", token=ROOT)
    assert (head.status, head.body) == (200, b"")


@pytest.fixture
def inside(client, settings):
    """A client of the bus in this process, whose settings a test may change."""
    settings.ROOT_URLCONF, settings.MIDDLEWARE = "trackers.bus.urls", []
    return client


def test_an_empty_list_is_200(inside):
    tokens.make_token("root", ROOT, scope=tokens.ROOT)

    answer = inside.get("/api_tokens", headers={"Authorization": basic(ROOT)})

    assert (answer.status_code, answer.content) == (200, b"[]")


def test_only_the_first_publisher_may_publish_and_delete_a_topic(bus, topic):
    receiver, first, second = bus.client(), bus.client(), bus.client()
    assert receiver.subscribe(topic).status == 204
    assert topics(bus)[topic] == {"name": topic, "publisher": None, "events": 0}
    assert first.ask("DELETE", f"/topics/{topic}").status == 403

    assert first.publish(topic).status == 200
    refused = second.publish(topic)

    assert (refused.status, refused.sentence) == (403, "Another client publishes this topic.")
    assert second.ask("DELETE", f"/topics/{topic}").status == 403
    assert topics(bus)[topic] == {"name": topic, "publisher": first.name, "events": 1}
    assert first.ask("DELETE", f"/topics/{topic}").status == 204
    assert topic not in topics(bus)
    # What was told until then is delivered; what is told later is not.
    assert second.publish(topic).status == 200
    assert receiver.listed()["topics"] == []
    assert receiver.listed()["events"]["queued"] == 1
    assert topics(bus)[topic] == {"name": topic, "publisher": second.name, "events": 1}
    assert bus.ask("DELETE", f"/topics/{topic}", token=ROOT).status == 204


@pytest.mark.parametrize("topic", ["tweets", "milestones", "sources", "alerts"])
def test_clients_cannot_publish_or_delete_our_own_topics(bus, topic):
    client = bus.client()

    assert topics(bus)[topic]["publisher"] == "tweetwatch"
    assert client.publish(topic).status == 403
    assert client.ask("DELETE", f"/topics/{topic}").status == 403
    assert bus.ask("DELETE", f"/topics/{topic}", token=ROOT).status == 403


def test_of_two_concurrent_first_publishers_one_owns_the_topic(bus, topic):
    clients = [bus.client(), bus.client()]
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda n: clients[n % 2].publish(topic).status, range(24)))

    told = topics(bus)[topic]
    assert sorted(statuses) == [200] * 12 + [403] * 12
    assert told["events"] == 12
    assert told["publisher"] in {client.name for client in clients}


def test_a_published_event_is_queued_at_once(bus, topic):
    publisher, receiver = bus.client(), bus.client()
    receiver.subscribe(topic)
    for n in range(1, 4):
        publisher.publish(topic)
        assert receiver.listed()["events"] | {"oldest": 0} == {"sent": 0, "queued": n, "oldest": 0}


def test_a_new_subscription_replaces_the_given_fields_and_keeps_the_others(bus, topic):
    client, other = bus.client(), f"{topic}_other"
    client.subscribe(topic, timeout=0, max=7)
    client.subscribe(other, callback="https://elsewhere.example/", uuid=None)

    told = client.listed()
    assert (told["topics"], told["callback"]) == ([other], "https://elsewhere.example/")
    assert (told["timeout"], told["max_events"], told["uuid"]) == (0, 7, "hello")
    # Nobody subscribes to it or publishes it any more.
    assert topic not in topics(bus)
    assert client.subscribe().status == 204
    assert client.listed()["topics"] == []


def test_many_first_subscriptions_of_one_client_make_one_subscriber(bus, topic):
    client = bus.client()
    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(lambda n: client.subscribe(topic, max=n + 1).status, range(6)))

    assert statuses == [204] * 6
    found = bus.rows("SELECT count(*) FROM trackers_subscriber WHERE name = %s", client.name)
    assert found == [(1,)]


def test_subscribing_again_after_a_410_resumes_events(bus, topic):
    client = bus.client()
    client.subscribe(topic)
    state = "FROM trackers_subscriber s WHERE s.id = subscriber_id AND s.name = %s"
    bus.change(
        f"UPDATE trackers_subscriberstate SET disabled_at = now(), health = 3 {state}", client.name
    )

    client.subscribe(topic)

    kept = "SELECT disabled_at, health FROM trackers_subscriberstate, trackers_subscriber s"
    where = "WHERE s.id = subscriber_id AND s.name = %s"
    assert bus.rows(f"{kept} {where}", client.name) == [(None, 100)]


def test_a_client_that_subscribes_again_starts_fresh(bus, topic):
    publisher, client = bus.client(), bus.client()
    assert client.ask("DELETE", "/subscriber").status == 404
    client.subscribe(topic, max=7)
    publisher.publish(topic)

    assert client.ask("DELETE", "/subscription").status == 204
    assert client.listed() is None
    client.subscribe(topic)

    told = client.listed()
    assert (told["max_events"], told["events"]) == (100, {"sent": 0, "queued": 0, "oldest": None})


def test_a_client_may_have_several_tokens_and_ends_with_the_last(bus, topic):
    """As Routemaster's: a new token is used before the old one is deleted."""
    old = bus.client()
    new = bus.client(old.name)
    assert old.token != new.token
    old.subscribe(topic)
    old.publish(topic)
    assert new.publish(topic).status == 200
    assert new.listed()["events"]["queued"] == 2
    listed = bus.ask("GET", "/api_tokens", token=ROOT).json()
    assert [one["name"] for one in listed].count(old.name) == 2

    assert bus.ask("DELETE", f"/api_tokens/{old.token}", token=ROOT).status == 204

    assert old.publish(topic).status == 401
    assert new.publish(topic).status == 200
    assert new.listed()["events"]["queued"] == 3
    bus.client(old.name)
    # By the name all of them.
    assert bus.ask("DELETE", f"/api_tokens/{old.name}", token=ROOT).status == 204
    assert new.publish(topic).status == 401
    subscribers = bus.ask("GET", "/subscribers", token=ROOT).json()
    assert old.name not in {one["subscriber"] for one in subscribers}


def test_deleting_a_token_removes_its_subscriber_and_keeps_its_topics(bus, topic):
    client, by_name = bus.client(), bus.client()
    for one in (client, by_name):
        one.subscribe(topic)
    client.publish(topic)

    assert bus.ask("DELETE", f"/api_tokens/{client.token}", token=ROOT).status == 204
    assert bus.ask("DELETE", f"/api_tokens/{by_name.name}", token=ROOT).status == 204
    assert bus.ask("DELETE", "/api_tokens/%00", token=ROOT).status == 204

    assert client.publish(topic).status == 401
    listed = bus.ask("GET", "/subscribers", token=ROOT).json()
    assert not {client.name, by_name.name} & {one["subscriber"] for one in listed}
    assert topics(bus)[topic]["publisher"] == client.name
    # The same name is the same publisher.
    assert bus.client(client.name).publish(topic).status == 200


def test_uuids_are_masked_for_others_and_no_table_has_secrets(bus, topic):
    client, other = bus.client(), bus.client()
    client.subscribe(topic, uuid="a-secret-of-some-length")

    def seen_with(token):
        listed = bus.ask("GET", "/subscribers", token=token).json()
        return next(one["uuid"] for one in listed if one["subscriber"] == client.name)

    assert seen_with(client.token) == seen_with(ROOT) == "a-secret-of-some-length"
    assert seen_with(other.token) == "a-se…"
    rows = bus.rows("SELECT * FROM trackers_subscriber") + bus.rows(
        "SELECT * FROM trackers_apitoken"
    )
    assert "a-secret" not in str(rows)
    assert client.token not in str(rows)


@pytest.mark.parametrize("is_fanned_out", [True, False])
def test_the_scaling_probe_slows_down_while_many_events_are_due(bus, topic, is_fanned_out):
    # Nothing is sent to those of other tests.
    bus.change("UPDATE trackers_subscriber SET paused_at = now()")
    publisher, receiver = bus.client(), bus.client()
    receiver.subscribe(topic, max=1)
    for _ in range(3):
        publisher.publish(topic)
    if is_fanned_out:
        receiver.listed()

    def seconds():
        began = time.monotonic()
        assert bus.ask("GET", "/pulse/scaling", token=ROOT).status == 204
        return time.monotonic() - began

    assert seconds() >= 1
    receiver.ask("DELETE", "/subscriber")
    assert any(seconds() < 1 for _ in range(5))


def test_a_restarted_database_is_reconnected(bus, topic):
    client = bus.client()
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    bus.change(f"SELECT pg_terminate_backend(pid) {others}")
    wait_until(
        lambda: bus.rows(f"SELECT count(*) {others}") == [(0,)],
        within=PATIENCE,
        what="the connections are gone",
    )

    assert [client.publish(topic).status for _ in range(4)] == [200] * 4


def test_an_unreachable_database_is_a_server_error():
    def status(path):
        return api.on_exception(RequestFactory().get(path), OperationalError("away")).status_code

    assert (status("/topics"), status("/pulse"), status("/pulse/scaling")) == (503, 500, 503)


@pytest.mark.parametrize("behind_proxy", [True, False])
def test_plain_http_redirects_to_https_keeping_method_and_body(inside, settings, behind_proxy):
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if behind_proxy else None
    settings.ALLOWED_HOSTS = ["bus.example"]

    def post(host="bus.example", came_from="127.0.0.1", **how):
        more = {"REMOTE_ADDR": came_from, "headers": {"host": host}, **how}
        return inside.post("/topics/orders", **more)

    moved = post(came_from="198.51.100.7")
    assert (moved.status_code, moved["Location"]) == (308, "https://bus.example/topics/orders")
    assert post("evil.example", "198.51.100.7").status_code == 400
    # What this machine itself asks, when there is no proxy that may have been asked by others.
    # Without a token it is then refused.
    assert post().status_code == (308 if behind_proxy else 401)
    over_tls = {"HTTP_X_FORWARDED_PROTO": "https"} if behind_proxy else {"secure": True}
    assert post(came_from="198.51.100.7", **over_tls).status_code == 401


def topics(bus):
    return {one["name"]: one for one in bus.ask("GET", "/topics", token=ROOT).json()}
