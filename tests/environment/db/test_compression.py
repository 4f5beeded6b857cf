"""What we compress ourselves, and what we never do."""

import gzip

import pytest

from tests.pages.sources import source
from trackers.events.subscribers.acts import add
from trackers.events.subscribers.terms import Terms
from trackers.history import by_command
from trackers.timelines.models import Follower
from trackers.tokens.models import ApiToken

pytestmark = pytest.mark.django_db
COMPRESSED = {"Accept-Encoding": "gzip, deflate, br"}


@pytest.fixture
def root(client, django_user_model, settings):
    settings.SECURE_SSL_REDIRECT = False
    client.force_login(django_user_model.objects.create_superuser("root"))
    return client


@pytest.mark.parametrize("address", ["/sources/", "/api/v1/openapi.json", "/admin/", "/login/"])
def test_pages_and_json_are_compressed_for_those_who_ask(root, address):
    plain = root.get(address, follow=True)
    packed = root.get(address, headers=COMPRESSED, follow=True)

    assert not plain.has_header("Content-Encoding")
    assert packed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed["Vary"]
    assert len(packed.content) < len(plain.content) / 2
    assert len(gzip.decompress(packed.content)) > 1000
    head = root.head(packed.request["PATH_INFO"], headers=COMPRESSED)
    assert (head["Content-Encoding"], head.content) == ("gzip", b"")


def test_a_compressed_answer_has_a_weak_tag_that_counts_as_the_same(root):
    for number in range(9):
        source(of=f"account{number}")
    user = root.get("/account/").wsgi_request.user
    token = ApiToken(user=user, name="a test").save_with_secret()
    asks = {**COMPRESSED, "Authorization": f"Bearer {token}"}
    packed = root.get("/api/v1/sources", headers=asks)
    assert packed["Content-Encoding"] == "gzip"
    assert packed["ETag"].startswith('W/"')

    asks["If-None-Match"] = packed["ETag"]
    assert root.get("/api/v1/sources", headers=asks).status_code == 304
    source(of="another")
    assert root.get("/api/v1/sources", headers=asks).status_code == 200


@pytest.mark.parametrize(
    "address",
    ["/tweets/export.csv", "/following/follows.csv", "/api/v1/events/stream"],
)
def test_streamed_answers_are_not_compressed(root, address):
    answer = root.get(address, headers=COMPRESSED)

    assert answer.status_code == 200
    assert answer.streaming
    assert not answer.has_header("Content-Encoding")


def test_pages_that_show_a_secret_once_are_not_compressed(root):
    user = root.get("/account/").wsgi_request.user
    home = Follower.objects.create(user=user)
    add("shop", Terms({"callback": "https://shop.example/in"}, topics=["tweets"]), by_command())
    token = ApiToken(user=user, name="a test", scope="admin").save_with_secret()
    api = {**COMPRESSED, "Authorization": f"Bearer {token}"}
    of_token = {"user": user.pk, "name": "nightly", "scope": "read"}

    answers = [
        root.post(f"/feeds/make/{home.pk}", headers=COMPRESSED),
        root.post("/admin/trackers/apitoken/add/", of_token, headers=COMPRESSED),
        root.post("/api/v1/subscribers/shop/rotate_secret", headers=api),
    ]

    for answer in answers:
        assert answer.status_code == 200
        assert not answer.has_header("Content-Encoding")
