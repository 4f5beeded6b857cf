"""Subscribers by the API: who may do what, and what is refused. docs/api.md has each call."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection

from tests.events.conftest import books, deliver, fanned_out, subscriber, take
from trackers.events.delivery.models import Attempt
from trackers.events.models import Subscriber
from trackers.outbox.models import Topic

pytestmark = pytest.mark.django_db
NEW = {"name": "shop", "callback": "https://shop.example/in", "topics": ["orders"]}


@pytest.fixture
def keeper(program):
    """Of a user who may do anything with subscribers."""
    found = Permission.objects.filter(content_type__model="subscriber")
    program.user.user_permissions.add(*found)
    return program


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"name": 7}, "name", "Input should be a valid string"),
        ({"topics": "orders"}, "topics", "Input should be a valid list"),
        ({"max_events": "7"}, "max_events", "Input should be a valid integer"),
        ({"concurrency": 10**30}, "concurrency", "Input should be a valid integer"),
        ({"ordered": "yes"}, "ordered", "Input should be a valid boolean"),
        ({"authors": [7]}, "authors.0", "an id is a string"),
        ({"authors": ["9" * 19]}, "authors.0", "an id has up to 64 bits"),
        ({"sources": ["1"] * 1001}, "sources", "at most 1000 items"),
        ({"at_least": "likes"}, "at_least", "is not like likes=1000"),
        ({"at_least": "likes=¹"}, "at_least", "is not like likes=1000"),
        ({"headers": {"X-Room": 7}}, "headers.X-Room", "Input should be a valid string"),
        ({"headers": ["X-Room: 7"]}, "headers", "Input should be a valid dictionary"),
        ({"secret": "s"}, "secret", "Extra inputs are not permitted"),
    ],
)
def test_malformed_fields_are_400_by_field_and_store_nothing(keeper, given, field, says):
    refused(keeper, given, 400, field, says)


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"name": "Shop"}, "name", "A name has 1 to 64"),
        ({"callback": "http://shop.example/"}, "callback", "is not an address with https://"),
        ({"callback": "https://shop.example/?a=b"}, "callback", "has a query string"),
        ({"topics": []}, "topics", "Choose at least one topic"),
        ({"topics": ["or ders"]}, "topics", "The name of a topic has"),
        ({"max_events": 0}, "max_events", "greater than or equal to 1"),
        ({"timeout_ms": 3_600_001}, "timeout_ms", "less than or equal to 3600000"),
        ({"concurrency": 10**6}, "concurrency", "less than or equal to"),
        ({"rate": 0}, "rate", "greater than or equal to 1"),
        ({"format": "xml"}, "format", "is not a valid choice"),
        ({"headers": {"Host": "a"}}, "headers", "cannot be set: tweetwatch"),
        ({"headers": {"X-Room": "7\r\nX-Evil: 1"}}, "headers", "The value of the header X-Room"),
        ({"headers": {"Authorization": "a"}, "uuid": "me"}, "headers", "not both"),
        ({"uuid": "a:b"}, "uuid", "without a colon"),
        ({"sources": ["98", "99"]}, "sources", "There are no sources 98, 99."),
    ],
)
def test_invalid_fields_are_422_by_field_and_store_nothing(keeper, given, field, says):
    refused(keeper, given, 422, field, says)


def refused(keeper, given, status, field, says):
    keeper.post("subscribers", {**NEW, **given})

    assert keeper.status == status
    assert [one["field"] for one in keeper.body["errors"]] == [field]
    assert says in keeper.body["errors"][0]["detail"]
    assert keeper.body["detail"].startswith(f"{field}: ")
    assert not Subscriber.objects.exists()
    assert not Topic.objects.filter(name="orders").exists()


def test_a_malformed_change_changes_nothing(keeper):
    keeper.post("subscribers", {**NEW, "headers": {"X-Room": "7"}})
    before = keeper.get("subscribers/shop")

    for values, status in (
        ({"name": "other"}, 400),
        ({"rate": 0, "topics": ["a"]}, 422),
        ({"headers": {"a": "", "B": "b"}}, 422),
    ):
        keeper.ask("PATCH", "subscribers/shop", values)
        assert keeper.status == status
    told = keeper.post("subscribers", NEW)
    assert told == {"error": "name: There is already a subscriber with this name."}

    assert keeper.get("subscribers/shop") == before
    assert Subscriber.objects.get().secrets["headers"] == {"X-Room": "7"}


def test_only_creation_returns_the_signing_key_and_no_call_returns_headers(keeper):
    made = keeper.post("subscribers", {**NEW, "headers": {"X-Key": "hush"}, "uuid": "hush-too"})

    assert Subscriber.objects.get().secrets["signing"] == [made["signing_secret"]]
    told_later = [keeper.get("subscribers"), keeper.get("subscribers/shop"), made]
    assert "hush" not in str(told_later)
    assert made["signing_secret"] not in str(told_later[:2])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("GET", "/attempts", None),
        ("PATCH", "", {}),
        ("DELETE", "", None),
        ("POST", "/test", None),
        ("POST", "/pause", None),
        ("POST", "/resume", None),
        ("POST", "/rotate_secret", None),
        ("POST", "/replay", {"since": "2026-11-22T08:00:00Z"}),
        ("POST", "/redeliver", {"batch": "5f0c7a52-6f0e-4a39-9f67-0d0a1b9f2c11"}),
    ],
)
def test_an_unknown_subscriber_is_404_and_a_missing_permission_403(program, method, path, body):
    answer = program.ask(method, f"subscribers/nobody{path}", body)
    assert program.status == 403
    assert "lacks the permission trackers." in answer["error"]

    program.user.user_permissions.add(*Permission.objects.filter(content_type__model="subscriber"))
    for name in ("nobody", "No%20body", "a%00b"):
        answer = program.ask(method, f"subscribers/{name}{path}", body)
        assert (program.status, list(answer)) == (404, ["error"])


def test_attempts_are_filtered_by_time(keeper):
    subscriber("shop", max_events=1)
    fanned_out(1, 2)
    deliver(take())
    Attempt.objects.filter(id=Attempt.objects.first().id).update(at="2026-11-20T12:00:30Z")

    def attempts(query):
        return keeper.get(f"subscribers/shop/attempts?{query}")["attempts"]

    assert len(keeper.get("subscribers/shop/attempts")["attempts"]) == 2
    period = "since=2026-11-20T12:00:30Z&until=2026-11-20T12:00:31Z"
    assert [one["at"] for one in attempts(period)] == ["2026-11-20T12:00:30.000Z"]
    assert attempts("until=2026-11-20T12:00:30Z") == []
    assert len(attempts("since=2026-11-20T12:00:31Z")) == 1
    for bad in ("since=yesterday", "since=2026-11-20T12:00:00Z&until=2026-11-20T12:00:00Z"):
        keeper.get(f"subscribers/shop/attempts?{bad}")
        assert keeper.status == 400


def test_view_permission_allows_no_changes(program):
    subscriber("shop")
    program.user.user_permissions.add(Permission.objects.get(codename="view_subscriber"))

    assert program.get("subscribers")["subscribers"][0]["name"] == "shop"
    for method, path in (("POST", ""), ("PATCH", "/shop"), ("DELETE", "/shop")):
        program.ask(method, f"subscribers{path}", NEW if path == "" else {})
        assert program.status == 403
    program.post("subscribers/shop/pause", None)
    assert (program.status, Subscriber.objects.get().paused_at) == (403, None)


def test_a_replay_is_first_counted_and_then_done(keeper):
    subscriber("shop")
    fanned_out(1, 2)
    take()
    time = {"since": "2026-01-01T00:00:00+01:00"}

    assert keeper.post("subscribers/shop/replay", {**time, "dry_run": True}) == {"events": 2}
    fanned_out()
    assert books("shop") == (2, 0, 0, 2)
    assert keeper.post("subscribers/shop/replay", time) == {"events": 2}
    fanned_out()
    assert books("shop") == (4, 0, 0, 4)
    times = ("yesterday", "2026-01-01T00:00:00", "2999-01-01T00:00:00Z")
    for bad in ({}, *({"since": one} for one in times), {**time, "until": "2020-01-01T00:00:00Z"}):
        keeper.post("subscribers/shop/replay", bad)
        assert keeper.status == 400
    answer = keeper.post("subscribers/shop/redeliver", {"batch": "1"})
    assert (keeper.status, answer["error"][:6]) == (400, "batch:")


def test_an_internal_error_is_json(keeper):
    subscriber("shop")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE trackers_attempt RENAME TO away")

    answer = keeper.get("subscribers/shop/attempts")

    assert (keeper.status, list(answer)) == (500, ["error"])
    assert "log says what" in answer["error"]


@pytest.mark.django_db(transaction=True)
def test_an_unreachable_database_is_reported_as_json(keeper):
    connection.ensure_connection()
    connection.connection.pgconn.finish()

    answer = keeper.get("subscribers")

    assert (keeper.status, list(answer)) == (503, ["error"])
    connection.close()


def test_acts_of_a_program_are_recorded_in_the_history(keeper):
    period = {"since": "2026-01-01T00:00:00Z"}
    keeper.post("subscribers", NEW)
    keeper.ask("PATCH", "subscribers/shop", {"rate": 5})
    for act in ("pause", "resume", "test", "rotate_secret"):
        keeper.post(f"subscribers/shop/{act}")
    keeper.post("subscribers/shop/replay", {**period, "dry_run": True})
    keeper.post("subscribers/shop/replay", period)
    keeper.delete("subscribers/shop")

    lines = LogEntry.objects.order_by("pk").values_list("change_message", "user")
    assert list(lines) == [
        (said, keeper.user.pk)
        for said in (
            "Added, by the API.",
            "Changed, by the API.",
            "Paused, by the API.",
            "Resumed, by the API.",
            "Sent a test, by the API.",
            "Created a new signing key, by the API.",
            "Replay of 0 events, by the API.",
            "Removed; events dropped: 0, by the API.",
        )
    ]
