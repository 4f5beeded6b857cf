"""Whatever somebody sends to the bus, by its own description or against it (schemathesis)."""

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as examples
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    response_schema_conformance,
)

from tests.bus.conftest import PATIENCE, ROOT, basic
from trackers.bus.urls import api

pytestmark = pytest.mark.django_db
# What docs/bus.md says, by the path and by the method.
MAY_REFUSE = {
    "/topics/{name}": {"post": {400, 403, 422}, "delete": {403, 404}},
    "/subscription": {"post": {400}},
    "/subscriber": {"delete": {404}},
    "/subscriber/topics/{name}": {"delete": {404}},
    "/api_tokens": {"post": {400}},
}
# Where a part of the path is not one, the address is another's or nobody's.
ELSEWHERE = {404}


@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
def test_every_response_is_documented_and_none_is_a_500(bus, mode):
    document = json.loads(json.dumps(api.get_openapi_schema(path_prefix="")))
    # Else it brings tokens of its own; who may ask for what is tested in `test_calls.py`.
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)
    client = bus.client()
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        operation = found.ok()
        # Hardly anything can be wrong where there is no body, and this probe is slow on purpose.
        is_left_out = mode is GenerationMode.NEGATIVE and not operation.body
        if not is_left_out and operation.path != "/pulse/scaling":
            fuzz(bus, operation, mode, client)


def fuzz(bus, operation, mode, client):
    statuses = {int(status) for status in operation.definition.raw["responses"]}
    statuses |= MAY_REFUSE.get(operation.path, {}).get(operation.method, set())
    if "{" in operation.path:
        statuses |= ELSEWHERE
    token = ROOT if operation.path.startswith("/api_tokens") else client.token
    is_open = operation.path.startswith("/health")
    headers = {} if is_open else {"Authorization": basic(token)}

    @given(case=operation.as_strategy(generation_mode=mode))
    @examples(
        max_examples=10 if mode is GenerationMode.POSITIVE else 40,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case):
        address = f"http://127.0.0.1:{bus.port}"
        answer = case.call(base_url=address, headers=headers, timeout=PATIENCE)
        assert answer.status_code in statuses, (case.formatted_path, case.body, answer.text)
        if answer.status_code < 400:
            checks = [response_schema_conformance, negative_data_rejection]
            case.validate_response(answer, checks=checks)
        elif answer.content:
            assert answer.text.endswith(".\n")

    ask()
