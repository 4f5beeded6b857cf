"""Subscribers by the API: who may do what, and what is refused. docs/api.md has each call."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

from tests.events.conftest import books, subscriber, take, told
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
    ("given", "says"),
    [
        ({"name": "Shop"}, "A name has 1 to 64"),
        ({"name": 7}, "name: Input should be a valid string"),
        ({"callback": "http://shop.example/"}, "The callback is not an address with https://"),
        ({"callback": "https://shop.example/?a=b"}, "has a query string"),
        ({"topics": []}, "Choose at least one topic"),
        ({"topics": ["or ders"]}, "The name of a topic has"),
        ({"topics": "orders"}, "topics: Input should be a valid list"),
        ({"max_events": 0}, "max_events: "),
        ({"max_events": "7"}, "max_events: Input should be a valid integer"),
        ({"timeout_ms": 3_600_001}, "timeout_ms: "),
        ({"concurrency": 10**30}, "concurrency: "),
        ({"rate": 0}, "rate: "),
        ({"format": "xml"}, "format: "),
        ({"ordered": "yes"}, "ordered: "),
        ({"authors": [7]}, "authors.0: an id is a string"),
        ({"authors": ["9" * 19]}, "authors.0: an id has up to 64 bits"),
        ({"sources": ["1"] * 1001}, "sources: "),
        ({"at_least": "likes"}, "is not like likes=1000"),
        ({"at_least": "likes=¹"}, "is not like likes=1000"),
        ({"headers": {"Host": "a"}}, "cannot be set: tweetwatch"),
        ({"headers": {"X-Room": "7\r\nX-Evil: 1"}}, "The value of the header X-Room"),
        ({"headers": {"X-Room": 7}}, "headers.X-Room: Input should be a valid string"),
        ({"headers": ["X-Room: 7"]}, "headers: "),
        ({"headers": {"Authorization": "a"}, "uuid": "me"}, "not both"),
        ({"uuid": "a:b"}, "without a colon"),
        ({"secret": "s"}, "secret: "),
    ],
)
def test_what_is_malformed_is_400_with_a_sentence_and_stores_nothing(keeper, given, says):
    answer = keeper.post("subscribers", {**NEW, **given})

    assert (keeper.status, list(answer)) == (400, ["error"])
    assert says in answer["error"]
    assert not Subscriber.objects.exists()
    assert not Topic.objects.filter(name="orders").exists()


def test_a_change_that_is_malformed_changes_nothing(keeper):
    keeper.post("subscribers", {**NEW, "headers": {"X-Room": "7"}})
    before = keeper.get("subscribers/shop")

    for given in (
        {"name": "other"},
        {"rate": 0, "topics": ["a"]},
        {"headers": {"a": "", "B": "b"}},
    ):
        keeper.ask("PATCH", "subscribers/shop", given)
        assert keeper.status == 400
    assert keeper.post("subscribers", NEW)["error"].endswith("already exists.")

    assert keeper.get("subscribers/shop") == before
    assert Subscriber.objects.get().secrets["headers"] == {"X-Room": "7"}


def test_the_key_and_what_headers_say_are_told_by_no_other_call(keeper):
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
def test_one_that_is_not_there_is_404_and_without_permission_403(program, method, path, body):
    answer = program.ask(method, f"subscribers/nobody{path}", body)
    assert program.status == 403
    assert "lacks the permission trackers." in answer["error"]

    program.user.user_permissions.add(*Permission.objects.filter(content_type__model="subscriber"))
    for name in ("nobody", "No%20body", "a%00b"):
        answer = program.ask(method, f"subscribers/{name}{path}", body)
        assert (program.status, list(answer)) == (404, ["error"])


def test_who_may_look_may_do_nothing_else(program):
    subscriber("shop")
    program.user.user_permissions.add(Permission.objects.get(codename="view_subscriber"))

    assert program.get("subscribers")["subscribers"][0]["name"] == "shop"
    for method, path in (("POST", ""), ("PATCH", "/shop"), ("DELETE", "/shop")):
        program.ask(method, f"subscribers{path}", NEW if path == "" else {})
        assert program.status == 403
    program.post("subscribers/shop/pause", None)
    assert (program.status, Subscriber.objects.get().paused_at) == (403, None)


def test_a_replay_is_counted_and_then_done(keeper):
    subscriber("shop")
    told(1, 2)
    take()
    time = {"since": "2026-01-01T00:00:00+01:00"}

    assert keeper.post("subscribers/shop/replay", {**time, "dry_run": True}) == {"events": 2}
    told()
    assert books("shop") == (2, 0, 0, 2)
    assert keeper.post("subscribers/shop/replay", time) == {"events": 2}
    told()
    assert books("shop") == (4, 0, 0, 4)
    times = ("yesterday", "2026-01-01T00:00:00", "2999-01-01T00:00:00Z")
    for bad in ({}, *({"since": one} for one in times), {**time, "until": "2020-01-01T00:00:00Z"}):
        keeper.post("subscribers/shop/replay", bad)
        assert keeper.status == 400
    answer = keeper.post("subscribers/shop/redeliver", {"batch": "1"})
    assert (keeper.status, answer["error"][:6]) == (400, "batch:")


def test_a_mistake_of_ours_is_told_as_json(keeper):
    subscriber("shop")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE trackers_attempt RENAME TO away")

    answer = keeper.get("subscribers/shop/attempts")

    assert (keeper.status, list(answer)) == (500, ["error"])
    assert "log says what" in answer["error"]


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_is_told_as_json(keeper):
    connection.ensure_connection()
    connection.connection.pgconn.finish()

    answer = keeper.get("subscribers")

    assert (keeper.status, list(answer)) == (503, ["error"])
    connection.close()
