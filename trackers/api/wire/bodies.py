"""Bodies of requests: JSON as RFC 8259 has it, and no text that the database cannot keep."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest
from ninja.parser import Parser

NUL = "Text must not contain the NUL character. Leave it out."


class Unkept(ValueError):
    """Well-formed, but not for the database."""


class Strict(Parser):
    """Without NaN, halves of surrogate pairs and NUL; whatever is raised here is 400."""

    def parse_body(self, request: HttpRequest) -> Any:
        told = orjson.loads(request.body)
        # As text it takes an escape, so hardly any body is looked through.
        if b"\\u0000" in request.body and has_nul(told):
            raise Unkept(NUL)
        return told


def has_nul(told: Any) -> bool:
    left = [told]
    while left:
        one = left.pop()
        if isinstance(one, str) and "\0" in one:
            return True
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
    return False


def query_has_nul(request: HttpRequest) -> bool:
    return any("\0" in text for name, some in request.GET.lists() for text in (name, *some))
