"""openapi.json: committed as it is now, and kept to whatever somebody sends (schemathesis)."""

import json

import pytest
import schemathesis
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as examples
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.api.conftest import token_of
from tests.conftest import PROJECT
from tests.factories import CredentialFactory, TweetFactory
from trackers.api.urls import api
from trackers.ingest.sources.models import Source
from trackers.timelines import store
from trackers.timelines.store import Entry

COMMITTED = PROJECT / "docs" / "openapi.json"
# On a busy machine an answer may take its time; schemathesis gives up after ten seconds.
PATIENCE = 120
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]


def test_the_committed_openapi_document_is_current():
    """`make openapi` writes it."""
    assert json.loads(COMMITTED.read_text()) == json.loads(json.dumps(api.get_openapi_schema()))


def test_each_call_has_a_unique_name_and_documents_its_responses():
    operations = [
        (path, method, one)
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method, one in methods.items()
    ]
    names = [one["operationId"] for _, _, one in operations]
    assert len(names) == len(set(names))
    assert all("security" in one for _, _, one in operations)


@pytest.fixture
def token(live_server, settings):
    """Of somebody who may do everything, where there is something of each kind."""
    settings.API_RATE_LIMIT = settings.EVENT_STREAMS = 0
    TweetFactory(id=1, measured=True)
    Source.objects.create(id=1, kind="search", of="moon")
    CredentialFactory(name="0")
    store.set("0", [Entry(1)])
    return token_of(User.objects.create_superuser("ada"))


def fuzz(server, token, most):
    document = json.loads(json.dumps(api.get_openapi_schema()))
    schema = schemathesis.openapi.from_dict(document)
    for found in schema.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy())
        @examples(
            max_examples=most,
            deadline=None,
            database=None,
            derandomize=most < 50,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check_case(case):
            headers = {"Authorization": f"Bearer {token}"}
            answer = case.call(base_url=server.url, headers=headers, timeout=PATIENCE)
            case.validate_response(answer, checks=CHECKS)

        check_case()


def test_every_response_is_documented_and_none_is_a_500(live_server, token):
    fuzz(live_server, token, most=4)


@pytest.mark.more
@pytest.mark.timeout(1800)
def test_every_response_is_documented_and_none_is_a_500_at_length(live_server, token):
    fuzz(live_server, token, most=150)


@pytest.mark.more
def test_every_call_needs_a_token(live_server, token):
    fuzz(live_server, "none", most=20)
