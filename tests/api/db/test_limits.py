"""How much a token may ask: its scope, and so many requests in a minute."""

from datetime import timedelta

from django.db.models import F

from tests.api.conftest import Program
from trackers.events.models import Subscriber
from trackers.timelines import store
from trackers.tokens.models import ApiUse

NEW = {"name": "shop", "callback": "https://shop.example/", "topics": ["tweets"]}


def with_scope(keeper, scope):
    return Program(keeper.client, keeper.user, scope)


def test_a_read_token_cannot_change_anything(keeper):
    reader = with_scope(keeper, "read")
    store.set("a", [])

    assert reader.get("timelines/a")["state"] == "HIT"
    assert reader.post("timelines/get_multi", {"asks": [{"name": "a"}]})["segments"]
    told = reader.put("timelines/a", {"entries": [{"id": "1"}]})
    assert (reader.status, store.get("a", 0, 9)) == (403, [])
    assert told["error"] == "This requires a token with the scope write; this one has read."


def test_a_write_token_cannot_add_subscribers(owner):
    writer = with_scope(owner, "write")

    assert writer.get("subscribers") == {"subscribers": []}
    assert "scope admin" in writer.post("subscribers", NEW)["error"]
    assert (writer.status, Subscriber.objects.count()) == (403, 0)
    owner.post("subscribers", NEW)
    assert owner.status == 201


def test_requests_of_a_token_are_limited_by_the_minute(program, settings):
    settings.API_RATE_LIMIT = 3
    other = Program(program.client, program.user)

    left = []
    for _ in range(3):
        program.get("users")
        assert program.status == 200
        assert program.headers["RateLimit-Policy"] == '"token";q=3;w=60'
        left.append(program.headers["RateLimit"].split(";")[1])
    assert left == ["r=2", "r=1", "r=0"]

    for _ in range(2):
        told = program.get("users")
        assert (program.status, program.headers["RateLimit"].split(";")[1]) == (429, "r=0")
        assert 1 <= int(program.headers["Retry-After"]) <= 60
        assert "its 3 requests for this minute" in told["error"]
    other.get("users")
    assert other.status == 200

    ApiUse.objects.update(begun_at=F("begun_at") - timedelta(minutes=1))
    program.get("users")
    assert program.status == 200
    assert ApiUse.objects.count() == 2


def test_requests_are_not_counted_without_a_limit(program, settings):
    settings.API_RATE_LIMIT = 0
    program.get("users")
    assert "RateLimit" not in program.headers
    assert not ApiUse.objects.exists()
