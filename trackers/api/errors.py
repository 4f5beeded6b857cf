"""Error answers: a status of 4xx or 5xx and one sentence, as `error`.

Malformed ─> 400 · no token ─> 401 · not allowed ─> 403 · not there ─> 404
Another method than the address takes ─> 405 · too large ─> 413
A mistake of ours ─> 500 · the database is away ─> 503 (`methods`)
A timeline that is missing is 404 with {"state": "MISS"}, as in `get_multi`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from trackers.timelines.store import State, TimelineMissing

UNKNOWN = "Bring a token that is valid as Authorization: Bearer …"
NOWHERE = "There is no such address."
NO_METHOD = "This address does not take that method; the header Allow names those it takes."
TOO_LARGE = "The body is too large: send less at a time."
BROKEN = "Something went wrong here; the server's log says what. Whether it was done is not known."
AWAY = "The database cannot be reached. Try again in a moment; whether it was done is not known."
# Left out of messages: ninja's words for the parts of a request, and our views' for the body.
UNTOLD = {"body", "query", "path", "given"}


def handle(api: NinjaAPI) -> None:
    def answers(kind: type[Exception], status: int, told: Callable[[Any], dict[str, str]]) -> None:
        def answer(request: HttpRequest, fault: Any) -> HttpResponse:
            known = fault.status_code if isinstance(fault, HttpError) else status
            return api.create_response(request, told(fault), status=known)

        api.add_exception_handler(kind, answer)

    answers(ValueError, 400, said)
    answers(HttpError, 400, said)
    answers(ValidationError, 400, lambda fault: {"error": first_of(fault.errors)})
    answers(AuthenticationError, 401, lambda _: {"error": UNKNOWN})
    answers(LookupError, 404, said)
    answers(TimelineMissing, 404, lambda _: {"state": State.MISS})
    answers(RequestDataTooBig, 413, lambda _: {"error": TOO_LARGE})


def said(fault: Exception) -> dict[str, str]:
    if isinstance(fault, (KeyError, IndexError, UnicodeError)):
        # No part of our code raises this for bad input, so it is our mistake.
        raise fault
    return {"error": str(fault)}


def first_of(errors: list[dict[str, Any]]) -> str:
    """One sentence about the first of the errors."""
    [first, *_] = errors
    where = ".".join(str(part) for part in first["loc"] if part not in UNTOLD)
    what = first["msg"].removeprefix("Value error, ").rstrip(".")
    return f"{where or 'The body'}: {what}."
