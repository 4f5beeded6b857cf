"""The ETag of an answer before it is given: for `If-Match`."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.cache import set_response_etag
from ninja import Schema
from ninja.renderers import JSONRenderer


def tag_of(schema: type[Schema], told: Any) -> str:
    """As `methods.with_headers` sets it for a GET that is answered with this."""
    shown = schema.model_validate(told).model_dump()
    body = JSONRenderer().render(None, shown, response_status=200)  # type: ignore[arg-type]
    return str(set_response_etag(HttpResponse(body))["ETag"])
