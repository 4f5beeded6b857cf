"""The API's schema, openapi.json: what ninja knows, and what all calls have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from tweetwatch.http.problems import CONTENT_TYPE

_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. `detail` is a sentence; `errors`, if any, names the fields.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "detail"],
                "properties": {"field": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
        "state": {"type": "string", "description": "MISS: the timeline is missing."},
        "preview": {
            "$ref": "#/components/schemas/PreviewOut",
            "description": "What intervals would cost that have to be confirmed.",
        },
    },
}
_STATUS_MEANINGS = {
    400: "Malformed.",
    401: "No valid token.",
    403: "Not allowed: the token's scope, or a permission of its user.",
    404: "Not found.",
    405: "The name is that of another call; the header Allow names its methods.",
    409: "This cannot be done now.",
    412: "It has changed since you read it.",
    413: "The body is too large.",
    422: "Understood, but impossible; or the Idempotency-Key belongs to another request.",
    429: "Too many requests this minute.",
    500: "A bug of ours; the server's log has details.",
    501: "The server lacks a package; `detail` names it.",
    503: "The database is unavailable, or too many searches or exports are running.",
}
_RATE_HEADERS = {
    "RateLimit-Policy": {
        "schema": {"type": "string"},
        "description": "The limit: q requests in w seconds.",
    },
    "RateLimit": {
        "schema": {"type": "string"},
        "description": "r requests are left for t seconds.",
    },
}
_RETRY_HEADER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait."}}
_ALLOW_HEADER = {"Allow": {"schema": {"type": "string"}, "description": "The methods it takes."}}
_ETAG_HEADER = {"ETag": {"schema": {"type": "string"}, "description": "For If-None-Match."}}


def _header(name: str, description: str) -> dict[str, Any]:
    return {
        "in": "header",
        "name": name,
        "required": False,
        "schema": {"type": "string"},
        "description": description,
    }


_IF_NONE_MATCH = _header("If-None-Match", "An earlier ETag; 304 if nothing has changed.")
_IDEMPOTENCY_KEY = {
    **_header(
        "Idempotency-Key", "For a day, a repeated key changes nothing, and gets the same answer."
    ),
    "schema": {"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"},
}


class Api(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The function's name, which generated clients use."""
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        schema["components"]["schemas"]["Problem"] = _PROBLEM
        schema["components"]["responses"] = {
            f"Problem{status}": _problem_response(status, meaning)
            for status, meaning in _STATUS_MEANINGS.items()
        }
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                _complete_operation(operation, method=method, has_parts="{" in path)
        return schema


class DescriptionPage(Swagger):
    """For people. Its scripts are ours to serve; ninja would load them from elsewhere."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        its_settings = {**self.settings, "url": self.get_openapi_url(api, kwargs)}
        context = {"swagger_settings": json.dumps(its_settings), "api": api}
        return render(request, self.template, context)


def _problem_response(status: int, meaning: str) -> dict[str, Any]:
    headers: dict[str, Any] = {405: _ALLOW_HEADER, 429: _RATE_HEADERS}.get(status, {})
    return {
        "description": meaning,
        "headers": {**headers, **(_RETRY_HEADER if status in (429, 503) else {})},
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _complete_operation(operation: dict[str, Any], *, method: str, has_parts: bool) -> None:
    """Add what ninja does not know: errors, and headers of all calls."""
    responses = operation["responses"]
    for status in _problem_statuses(
        method, has_parts=has_parts, has_body="requestBody" in operation
    ):
        # As text: otherwise the committed file, read back, would differ.
        if status not in responses:
            responses[status] = {"$ref": f"#/components/responses/Problem{status}"}
    streams = {"text/event-stream", "text/csv"} & set(responses.get(200, {}).get("content", {}))
    if method == "get" and not streams:
        operation["parameters"] = [*operation["parameters"], _IF_NONE_MATCH]
        responses[304] = {"description": "Nothing has changed.", "headers": _ETAG_HEADER}
    if method == "post":
        operation["parameters"] = [*operation["parameters"], _IDEMPOTENCY_KEY]
    for status, response in responses.items():
        if status < 400:
            response["headers"] = {**response.get("headers", {}), **_RATE_HEADERS}
    operation["responses"] = {str(status): responses[status] for status in sorted(responses)}


def _problem_statuses(method: str, *, has_parts: bool, has_body: bool) -> Iterator[int]:
    yield from (400, 401, 403, 429, 500, 503)
    if has_parts:
        yield 404
    if method == "get":
        # A search that takes too long.
        yield 422
        return
    yield from (409, 422)
    if method == "put":
        yield 412
    if has_body:
        yield 413
