"""Unreadable requests are answered with 400 and a sentence, before they reach a view.

Django reads a body in the charset that the request names, and fails where it is read first: in the
check for forgery, or only in the page that should report another error, which is then a 500.
"""

from __future__ import annotations

import codecs
import json
import logging
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import psycopg
from django.conf import settings
from django.core.exceptions import (
    FieldError,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
    ValidationError,
)
from django.db import DataError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict
from django.utils.http import parse_header_parameters
from django.views import defaults

from tweetwatch.http.bodies import (
    STRANGERS_LIMIT,
    STRANGERS_MOST,
    TOO_LATE,
    body_size,
    receive_body,
)
from tweetwatch.http.problems import CONTENT_TYPE, is_of_api, problem, problem_json
from tweetwatch.http.refusals import Refused

logger = logging.getLogger(__name__)

CHARSET = "This server reads only UTF-8. Send the request in UTF-8, or name no charset."
NUL = "The request contains a NUL character, which cannot be stored. Send it without."
FORM = "The form in this request is damaged. Go back, load the page again, and send it once more."
TOO_LARGE = "The form in this request is larger than this server accepts. Send less at once."
NO_LENGTH = "This server reads no body in chunks. Send it with its Content-Length."
CHOSEN = "The chosen rows are not in this list. Go back and choose again."
FILTER = "This list cannot be filtered like that. Go back and choose one of its filters."
# What Django raises for values that fit no look-up.
_CRAFTED = (ValueError, TypeError, LookupError, ArithmeticError, FieldError)
_LARGER = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)
# Which makes a list, before anything of it is shown.
_ADMIN_LISTS = "django.contrib.admin.views.main"
_OUR_PACKAGES = ("trackers", "tweetwatch")
# In the error of psycopg, for any text meant for the database.
_NUL_FAULT = "NUL (0x00)"


Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class BadRequestMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "HTTP_TRANSFER_ENCODING" in request.META:
            # Django would take it for an empty one.
            return _bad_request_response(request, NO_LENGTH, status=411)
        named = _charset_of(request.META.get("CONTENT_TYPE", ""))
        if named and not _is_utf8(named):
            return _bad_request_response(request, CHARSET)
        if named:
            # Django accepts only this spelling.
            request.encoding = "utf-8"
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """What the check for forgery would fail on; it reads the form of whoever has its cookie."""
        try:
            _limit_body(request, view)
        except Refused as refused:
            return _bad_request_response(request, refused.detail, status=refused.status)
        checked = not getattr(view, "csrf_exempt", False)
        reads = checked and settings.CSRF_COOKIE_NAME in request.COOKIES
        if reads and (fault := _fault_of_form(request)):
            return _bad_request_response(request, fault)
        return self.chosen_rows(request, view)

    def chosen_rows(self, request: HttpRequest, view: Any) -> HttpResponse | None:
        """The admin looks up chosen rows without checking their ids: those of a list, and those of
        a box that completes what is typed, whose form it shows again."""
        admin = getattr(view, "model_admin", None)
        if admin is None:
            return None
        form = request.POST if request.method == "POST" else request.GET
        keys = {
            name: admin.opts.get_field(name).remote_field.model._meta.pk
            for name in admin.get_autocomplete_fields(request)
        }
        if request.method == "POST":
            keys["_selected_action"] = admin.opts.pk
        try:
            for name, key in keys.items():
                for chosen in form.getlist(name):
                    if chosen or name == "_selected_action":
                        key.run_validators(key.to_python(chosen))
        except ValidationError:
            return _bad_request_response(request, CHOSEN)
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, (DataError, ValueError)) and _NUL_FAULT in str(error):
            return _bad_request_response(request, NUL)
        if isinstance(error, Refused):
            return _bad_request_response(request, error.detail, status=error.status)
        if isinstance(error, UnreadablePostError):
            return _bad_request_response(request, TOO_LATE, status=408)
        if request.GET and _is_of_filter(error):
            logger.warning("answered 400 to a filter of the admin: %r", error)
            return _bad_request_response(request, FILTER)
        if isinstance(error, (MultiPartParserError, *_LARGER)):
            # From a view that checks for forgery itself.
            return _bad_request_response(request, _why_unread(error))
        return None


def _is_of_filter(error: Exception) -> bool:
    """Whether it was raised while a list of the admin was made from its address, which may have any
    field and any look-up, with any value: by the database, or by Django without code of ours in
    between. Anything else is a fault of ours, as one while rows are shown."""
    modules = [frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(error.__traceback__)]
    if _ADMIN_LISTS not in modules:
        return False
    # Of this very class: too many values. What the server says of missing tables is another.
    if isinstance(error, DataError) or type(error.__cause__) is psycopg.ProgrammingError:
        return True
    making = modules[modules.index(_ADMIN_LISTS) :]
    is_ours = any(module.partition(".")[0] in _OUR_PACKAGES for module in making)
    return isinstance(error, _CRAFTED) and not is_ours


def _limit_body(request: HttpRequest, view: Any) -> None:
    """Before anybody reads it. The API knows who asks only later, and limits it then."""
    reads = request.method == "POST" and not is_of_api(request)
    if not reads or getattr(view, "takes_files", False) or body_size(request) <= STRANGERS_MOST:
        return
    user = getattr(request, "user", None)
    if user is None or not user.is_active:
        raise Refused(413, STRANGERS_LIMIT)
    receive_body(request)


def _fault_of_form(request: HttpRequest) -> str:
    """Why the form in a request cannot be read; empty if it can, or if it was not to be read."""
    if body_size(request) > STRANGERS_MOST and not hasattr(request, "_body"):
        _leave_form_unread(request)
        return ""
    try:
        request.POST  # noqa: B018 - read here first
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError) as error:
        # As Django does it after most of these errors: the next one to look finds an empty form.
        _leave_form_unread(request)
        return _why_unread(error)
    return ""


def _leave_form_unread(request: HttpRequest) -> None:
    request.POST, request._files = QueryDict(), MultiValueDict()  # type: ignore[attr-defined]


def _why_unread(error: Exception) -> str:
    if isinstance(error, UnreadablePostError):
        return TOO_LATE
    return FORM if isinstance(error, MultiPartParserError) else TOO_LARGE


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page of a 404 reads the form, which nobody may have read before."""
    fault = _fault_of_form(request)
    return (
        _bad_request_response(request, fault)
        if fault
        else defaults.page_not_found(request, exception)
    )


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Likewise that of a 403."""
    fault = _fault_of_form(request)
    return (
        _bad_request_response(request, fault)
        if fault
        else defaults.permission_denied(request, exception)
    )


def guard_application(application: Application) -> Application:
    """A WSGI application that never gets what it could not make a request of: with some charsets
    Django fails before any middleware runs."""

    def guard(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        named = _charset_of(environ.get("CONTENT_TYPE", ""))
        if not named or _is_utf8(named):
            return application(environ, start_response)
        if environ.get("PATH_INFO", "").startswith("/api/"):
            kind, body = CONTENT_TYPE, json.dumps(problem_json(400, CHARSET)).encode()
        else:
            kind, body = "text/plain", f"{CHARSET}\n".encode()
        headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
        start_response("400 Bad Request", headers)
        return [body]

    return guard


def _charset_of(content_type: str) -> str:
    return parse_header_parameters(content_type)[1].get("charset", "").strip()


def _is_utf8(charset: str) -> bool:
    try:
        return codecs.lookup(charset).name == "utf-8"
    except (LookupError, ValueError):
        return False


def _bad_request_response(request: HttpRequest, fault: str, *, status: int = 400) -> HttpResponse:
    if is_of_api(request):
        return problem(status, fault)
    return HttpResponse(render_to_string("400.html", {"fault": fault}), status=status)
