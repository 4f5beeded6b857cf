"""Bodies of requests to the API and to the bus: JSON as RFC 8259 has it, and only text that the
database can keep."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest
from ninja import Schema
from ninja.parser import Parser
from pydantic import ConfigDict

NUL = "Text must not contain the NUL character. Leave it out."


class UnreadableError(ValueError):
    """The body cannot be read as it is; the sentence says why."""


class StrictJson(Parser):
    """Without NaN, halves of surrogate pairs and NUL; whatever is raised here is 400."""

    def parse_body(self, request: HttpRequest) -> Any:
        body = orjson.loads(request.body)
        # As text it takes an escape, so hardly any body is looked through.
        if b"\\u0000" in request.body and _has_nul(body):
            raise UnreadableError(NUL)
        return body


def _has_nul(body: Any) -> bool:
    left = [body]
    while left:
        value = left.pop()
        if isinstance(value, str) and "\0" in value:
            return True
        if isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value
    return False


class Strict(Schema):
    """An unknown field is an error, and not ignored."""

    model_config = ConfigDict(extra="forbid")
