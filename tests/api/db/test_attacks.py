"""What nobody sends by mistake, in the place of each part of each call, one by one.

Schemathesis sends what the description allows, and this is what it does not. However it is
refused, it is never a failure of ours.
"""

import json
from urllib.parse import quote

import pytest
from django.db import transaction

from tests.api.conftest import end
from tests.api.db.test_who_may import examples
from trackers.api.urls import api
from tweetwatch.http import sending

MORE = pytest.mark.more
TEXTS = [
    "\0", "9" * 19, "9" * 400,
    *(pytest.param(one, marks=MORE)
      for one in ("-" + "9" * 19, "1e999", "é\u202e%", "' OR 1=1 --", "x" * 9_000)),
]  # fmt: skip
# As they stand in JSON.
VALUES = [
    '"\\u0000"', '"\\ud800"', "9" * 19,
    *(pytest.param(one, marks=MORE)
      for one in ("9" * 400, "-" + "9" * 19, "1e999", "NaN", "[" * 3_000, '{"a": 1}', "[[]]",
                  "null", "true", '"' + "x" * 9_000 + '"', '"0001-01-01T00:00:00+23:59"',
                  '"9999-12-31T23:59:59-23:59"')),
]  # fmt: skip
KNOWN = {"follower": "me", "name": "news", "id": "11", "source": "1", "account": "42", "note": "1",
         "share": "1", "view": "1", "channel": "1", "rule": "1", "kind": "all",
         "key": "all"}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_limit(settings):
    settings.API_RATE_LIMIT = settings.EVENT_STREAMS = 0


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:9].encode())
def test_no_value_in_an_address_causes_a_500(owner, text):
    failed = {}
    for path, method, operation in operations():
        known = {one["name"]: KNOWN.get(one["name"], "1") for one in parts(operation, "path")}
        for part in parts(operation, "path"):
            address = path.format(**known | {part["name"]: quote(text, safe="")})
            body = {} if "requestBody" in operation else None
            look(owner, failed, method, address, body)
        for part in parts(operation, "query"):
            address = f"{path.format(**known)}?{part['name']}={quote(text)}"
            look(owner, failed, method, address, None)
    assert failed == {}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value[:12])
def test_no_value_in_a_body_causes_a_500(owner, value):
    failed = {}
    for method, address, body in examples():
        path = address.format(
            follower="me",
            source=1,
            account=42,
            name="news",
            id=11,
            new=1,
            queue="tweet:update",
            note=1,
            share=1,
            view=1,
            channel=1,
            rule=1,
            kind="author",
            key=42,
        )
        for whole in bodies(body, value):
            look(owner, failed, method, path, whole)
    assert failed == {}


def operations():
    for path, methods in api.get_openapi_schema()["paths"].items():
        for method, operation in methods.items():
            yield path.removeprefix("/api/v1/"), method.upper(), operation


def parts(operation, where):
    return [one for one in operation["parameters"] if one["in"] == where]


def bodies(body, value):
    """Each with one value replaced, at whatever depth; as text, since no JSON has some of them."""
    if body is not None:
        yield value
        for place in places(body):
            yield json.dumps(changed(body, place)).replace('"<here>"', value)


def places(body, before=()):
    found = body.items() if isinstance(body, dict) else enumerate(body)
    for key, value in found:
        yield (*before, key)
        if isinstance(value, dict | list):
            yield from places(value, (*before, key))


def changed(body, place):
    first, *rest = place
    new = dict(body) if isinstance(body, dict) else list(body)
    new[first] = changed(body[first], rest) if rest else "<here>"
    return new


def look(program, failed, method, path, body):
    # Undone, so that each finds the same.
    with transaction.atomic():
        answer = program.raw(path, method, body)
        if answer.streaming:
            answer.getvalue()
        end(answer)
        transaction.set_rollback(True)
    if answer.status_code >= 500:
        failed[method, path[:80], str(body)[:120]] = answer.status_code
    assert sending.places._value == sending.MAX_FILES_SENT
