"""Refusals, as application/problem+json: a status, and one sentence as `detail`.

Malformed ─> 400 · no token ─> 401 · not allowed ─> 403 · not there ─> 404
Another method than the address takes ─> 405 · another request meanwhile ─> 409, 412
Too large ─> 413 · understood, but it cannot be done ─> 422 · too many requests ─> 429
A mistake of ours ─> 500 · the database is away ─> 503 (`methods`) · no place for a file, or the
archive is away ─> 503
A timeline that is missing is 404 with `state` MISS, as in `get_multi`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError

from trackers.timelines.store import SegmentState, TimelineMissing
from trackers.tweets.archive.read import ArchiveAway
from tweetwatch.http import refusals
from tweetwatch.http.problems import problem
from tweetwatch.http.refusals import Refused
from tweetwatch.http.sending import NoPlace
from tweetwatch.time_limits import TookTooLong

_NOT_AUTHORIZED = "Send a valid token as Authorization: Bearer …"
NOWHERE = "There is no such address; /api/v1/docs lists them all."
NO_METHOD = "This address does not support that method; the header Allow names those it does."
TOO_LARGE = "The body is too large: send less at a time."
_MISSING = "There is no timeline of this name."
_TOO_LONG = (
    "This took too long and was stopped. Ask for less: more words, a shorter time, or one state."
)
_NO_PLACE = (
    "Other files are being sent. Ask again when they are done; Retry-After says when to try."
)
SERVER_ERROR = (
    "Something went wrong here; the server's log says what. The request may have been carried out."
)
DATABASE_LOST = (
    "The database cannot be reached. Try again in a moment; the request may have been carried out."
)


def refusal(faults: Mapping[str, Iterable[str]]) -> Refused:
    """Well-formed, but not by the rules: the sentences by field; an empty name is the whole."""
    errors = [{"field": name, "detail": one} for name, some in faults.items() for one in some]
    first = errors[0]
    detail = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
    return Refused(422, detail, errors=errors)


def handle_errors(api: NinjaAPI) -> None:
    def answers(kind: type[Exception], status: int, detail: str, **more: str) -> None:
        api.add_exception_handler(kind, lambda _request, _fault: problem(status, detail, **more))

    refusals.handle_refusals(api, problem)
    api.add_exception_handler(AuthenticationError, lambda _request, _fault: _unauthenticated())
    answers(TimelineMissing, 404, _MISSING, state=SegmentState.MISS)
    answers(RequestDataTooBig, 413, TOO_LARGE)
    answers(NoPlace, 503, _NO_PLACE)
    answers(TookTooLong, 422, _TOO_LONG)
    api.add_exception_handler(ArchiveAway, lambda _request, fault: problem(503, str(fault)))


def _unauthenticated() -> HttpResponse:
    answer = problem(401, _NOT_AUTHORIZED)
    answer["WWW-Authenticate"] = "Bearer"
    return answer
