"""Refusals, as application/problem+json: a status, and one sentence as `detail`.

Malformed ─> 400 · no token ─> 401 · not allowed ─> 403 · not there ─> 404
Another method than the address takes ─> 405 · another request meanwhile ─> 409, 412
Too large ─> 413 · understood, but it cannot be done ─> 422 · too many requests ─> 429
A mistake of ours ─> 500 · the database is away ─> 503 (`methods`) · no place for a file ─> 503
A timeline that is missing is 404 with `state` MISS, as in `get_multi`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from trackers.api.wire.bodies import Unkept
from trackers.timelines.store import State, TimelineMissing
from tweetwatch.bounded import TookTooLong
from tweetwatch.http.problems import problem
from tweetwatch.http.sending import NoPlace

UNKNOWN = "Send a valid token as Authorization: Bearer …"
NOWHERE = "There is no such address; /api/v1/docs lists them all."
NO_METHOD = "This address does not support that method; the header Allow names those it does."
TOO_LARGE = "The body is too large: send less at a time."
MISSING = "There is no timeline of this name."
TOO_LONG = (
    "This took too long and was stopped. Ask for less: more words, a shorter time, or one state."
)
TAKEN = "Other files are being sent. Ask again when they are done; Retry-After says when to try."
BROKEN = (
    "Something went wrong here; the server's log says what. The request may have been carried out."
)
AWAY = (
    "The database cannot be reached. Try again in a moment; the request may have been carried out."
)
# Left out of messages: ninja's words for the parts of a request, and our views' for the body.
UNTOLD = {"body", "query", "path", "header", "given"}
# At most this many faults of one request are named.
NAMED_MOST = 20


class Refused(Exception):
    """Understood, and not done; `detail` says why, and `more` are further members."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.more = status, detail, more


def refusal(faults: Mapping[str, Iterable[str]]) -> Refused:
    """Well-formed, but not by the rules: the sentences by field; an empty name is the whole."""
    errors = [{"field": name, "detail": one} for name, some in faults.items() for one in some]
    first = errors[0]
    detail = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
    return Refused(422, detail, errors=errors)


def handle(api: NinjaAPI) -> None:
    def answers(kind: type[Exception], told: Callable[[Any], HttpResponse]) -> None:
        api.add_exception_handler(kind, lambda _request, fault: told(fault))

    answers(ValueError, said(400))
    answers(Refused, lambda fault: problem(fault.status, fault.detail, **fault.more))
    answers(HttpError, lambda fault: problem(fault.status_code, sentence(words_of(fault))))
    answers(ValidationError, lambda fault: malformed(fault.errors))
    answers(AuthenticationError, lambda _: unknown())
    answers(LookupError, said(404))
    answers(TimelineMissing, lambda _: problem(404, MISSING, state=State.MISS))
    answers(RequestDataTooBig, lambda _: problem(413, TOO_LARGE))
    answers(NoPlace, lambda _: problem(503, TAKEN))
    answers(TookTooLong, lambda _: problem(422, TOO_LONG))


def words_of(fault: HttpError) -> str:
    """Of a body that cannot be parsed ninja says no more than that."""
    return str(fault.__cause__ if isinstance(fault.__cause__, Unkept) else fault)


def sentence(text: str) -> str:
    """Ninja's own words have no full stop."""
    return text if text.endswith(".") else f"{text}."


def said(status: int) -> Callable[[Exception], HttpResponse]:
    def answer(fault: Exception) -> HttpResponse:
        if isinstance(fault, (KeyError, IndexError, UnicodeError)):
            # No part of our code raises this for bad input, so it is our mistake.
            raise fault
        return problem(status, str(fault))

    return answer


def unknown() -> HttpResponse:
    answer = problem(401, UNKNOWN)
    answer["WWW-Authenticate"] = "Bearer"
    return answer


def malformed(errors: list[dict[str, Any]]) -> HttpResponse:
    """The first of them in the sentence, and each with its field."""
    found = [fault_of(one) for one in errors[:NAMED_MOST]]
    first = found[0]
    return problem(400, f"{first['field'] or 'The body'}: {first['detail']}.", errors=found)


def fault_of(error: dict[str, Any]) -> dict[str, str]:
    where = ".".join(str(part) for part in error["loc"] if part not in UNTOLD)
    return {"field": where, "detail": error["msg"].removeprefix("Value error, ").rstrip(".")}
