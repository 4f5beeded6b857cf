"""Other methods and addresses than there are: refused in the API's own form, with nothing done."""

import json

import pytest
from django.test import Client

from trackers.timelines import store
from trackers.timelines.store import Entry

METHOD = {
    "error": "This address does not support that method; the header Allow names those it does."
}
ADDRESS = {"error": "There is no such address; /api/v1/docs lists them all."}


@pytest.fixture
def foreign(keeper):
    """As from another site's page: Django wants a CSRF token wherever it is not told otherwise."""
    keeper.client = Client(enforce_csrf_checks=True)
    return keeper


@pytest.mark.parametrize(
    ("method", "path", "takes"),
    [
        ("POST", "users", "GET, HEAD"),
        ("OPTIONS", "users", "GET, HEAD"),
        ("PURGE", "users/me/timeline", "GET, HEAD"),
        ("PATCH", "timelines/a", "DELETE, GET, HEAD, PUT"),
        ("HEAD", "timelines/a/merge", "POST"),
        ("POST", "openapi.json", "GET, HEAD"),
    ],
)
def test_an_unsupported_method_is_405_with_the_allowed_ones(foreign, method, path, takes):
    store.set("a", [Entry(7)])

    answer = foreign.client.generic(
        method, f"/api/v1/{path}", headers={"Authorization": f"Bearer {foreign.token}"}
    )

    assert (answer.status_code, answer["Allow"]) == (405, takes)
    assert answer["Content-Type"].startswith("application/problem+json")
    if method != "HEAD":
        assert json.loads(answer.content)["detail"] == METHOD["error"]
    assert store.get("a", 0, 9) == [Entry(7)]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["", "nowhere", "users/"])
def test_an_unknown_address_is_404_in_the_usual_form(foreign, method, path):
    assert (foreign.ask(method, path), foreign.status) == (ADDRESS, 404)


def test_head_answers_like_get_without_a_body(keeper):
    headers = {"Authorization": f"Bearer {keeper.token}"}

    for path, status in (("users/me/following_count", 200), ("timelines/missing", 404)):
        answer = keeper.client.head(f"/api/v1/{path}", headers=headers)
        assert (answer.status_code, answer.content) == (status, b"")
        got = keeper.client.get(f"/api/v1/{path}", headers=headers)
        assert answer["Content-Length"] == str(len(got.content))
    assert keeper.client.head("/api/v1/users").status_code == 401


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "multipart/form-data", "text/json; charset=utf8"]
)
def test_a_body_is_read_as_json_whatever_its_content_type(keeper, kind):
    headers = {"Authorization": f"Bearer {keeper.token}"}

    def put(body):
        return keeper.client.generic(
            "PUT", "/api/v1/timelines/a", body, content_type=kind, headers=headers
        )

    assert put('{"entries": [{"id": "7"}]}').status_code == 204
    assert put("entries=8").status_code == 400
    assert store.get("a", 0, 9) == [Entry(7)]
