"""The page for what failed unexpectedly, at every address of people, the admin's included.

the database is away, busy, read-only, or not migrated ─> 503, what is wrong, and what to do
anything else                                          ─> 500, as Django answers it

It neither reads the database nor knows who asks. The API has answers of its own (`problems`).
"""

from __future__ import annotations

import logging
import sys
from dataclasses import asdict, dataclass

from django.db import ProgrammingError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import render_to_string
from django.views.defaults import server_error
from psycopg import errors

from tweetwatch.database import LOST, why_lost
from tweetwatch.schema import UnfitDatabaseError

logger = logging.getLogger(__name__)

_READING_METHODS = ("GET", "HEAD")
_RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Failure:
    heading: str
    sentence: str
    ends: bool = True  # it ends by itself or by an administrator, and then the page reloads


_DATABASE_LOST = Failure(
    "The database cannot be reached",
    "Nothing that was saved is lost. Try again in a moment. If this lasts, whoever runs this "
    "server should check that PostgreSQL is running and that DATABASE_URL is right.",
)
_READ_ONLY = Failure(
    "The database can only be read",
    "Nothing that was saved is lost. Try again in a moment. If this lasts, whoever runs this "
    "server should check that DATABASE_URL leads to the primary and not to a standby.",
)
_TOOK_TOO_LONG = Failure(
    "This took too long",
    "The database did not finish in time, so this was stopped. Try again in a moment, or ask for "
    "less: a shorter time, or fewer tweets.",
    ends=False,
)
_UNMIGRATED = Failure(
    "The database is not up to date",
    "It lacks tables or columns that this version needs. Whoever runs this server should run "
    "manage.py migrate.",
)
_MISSING = (errors.UndefinedTable, errors.UndefinedColumn)


def failure_page(request: HttpRequest) -> HttpResponseBase:
    """Django calls this while it handles the exception."""
    error = sys.exc_info()[1]
    failure = _failure_of(error)
    if error is None or failure is None:
        return server_error(request)
    # Every open page asks again and again, so a line each. But a table that is missing may also be
    # a fault of ours, which only a traceback finds.
    logger.warning(
        "answered 503, because the database failed: %s",
        why_lost(error),
        exc_info=failure is _UNMIGRATED,
    )
    answer = _failure_response(request, failure)
    answer.__dict__["_has_been_logged"] = True
    answer["Retry-After"] = str(_RETRY_SECONDS)
    answer["Cache-Control"] = "no-store"
    return answer


def _failure_of(error: BaseException | None) -> Failure | None:
    if isinstance(error, UnfitDatabaseError):
        return Failure(_UNMIGRATED.heading, str(error))
    if isinstance(error, LOST):
        cause = error.__cause__
        if isinstance(cause, errors.ReadOnlySqlTransaction):
            return _READ_ONLY
        return _TOOK_TOO_LONG if isinstance(cause, errors.QueryCanceled) else _DATABASE_LOST
    if isinstance(error, ProgrammingError) and isinstance(error.__cause__, _MISSING):
        return _UNMIGRATED
    return None


def _failure_response(request: HttpRequest, failure: Failure) -> HttpResponse:
    if request.path.endswith(".json"):
        return JsonResponse({"error": f"{failure.heading}. {failure.sentence}"}, status=503)
    looks = request.method in _READING_METHODS
    context = {
        **asdict(failure),
        "again": request.get_full_path() if looks else "",
        "lost": not looks,
    }
    return HttpResponse(render_to_string("503.html", context), status=503)
