"""How the bus answers: empty, JSON, or a status and a sentence in plain text, as Routemaster does.

Ninja's own answers would differ: 405, a charset in the type of JSON, and bodies without a length.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.urls import URLPattern
from ninja import NinjaAPI

from trackers.bus.bodies import INCOMPLETE, MAX_BODY_SIZE
from tweetwatch.database import LOST, why_lost
from tweetwatch.http import refusals
from tweetwatch.schema import UnfitDatabaseError
from tweetwatch.servers import is_loopback

logger = logging.getLogger(__name__)

_TEXT = "text/plain; charset=utf-8"
_DATABASE_LOST = "The database cannot be reached. Try again in a moment."
_NO_HOST = "The host of this request is not one of ALLOWED_HOSTS."


class InClearError(Exception):
    """The request came by plain http, where others could read its token."""


def _empty_response(status: int) -> HttpResponse:
    return HttpResponse(status=status, content_type=_TEXT)


def _refusal_response(status: int, sentence: str, **_more: Any) -> HttpResponse:
    answer = HttpResponse(f"{sentence}\n", status=status, content_type=_TEXT)
    if status == 401:
        answer["WWW-Authenticate"] = "Basic"
    return answer


def handle_errors(api: NinjaAPI) -> None:
    refusals.handle_refusals(api, _refusal_response)
    api.add_exception_handler(InClearError, lambda request, _fault: _redirect_to_https(request))
    api.add_exception_handler(
        UnreadablePostError, lambda _request, _fault: _refusal_response(400, INCOMPLETE)
    )
    for kind in LOST:
        api.add_exception_handler(kind, _answer_database_lost)


def _answer_database_lost(request: HttpRequest, fault: Exception | type[Exception]) -> HttpResponse:
    # As in Routemaster, where this probe is about its store.
    status = 500 if request.path_info == "/pulse" else 503
    assert isinstance(fault, Exception)
    logger.warning("answered %s, because the database failed: %s", status, why_lost(fault))
    unfit = isinstance(fault, UnfitDatabaseError)
    return _refusal_response(status, str(fault) if unfit else _DATABASE_LOST)


def refuse_in_clear(request: HttpRequest) -> None:
    """Where HTTPS is required, unless nobody else could read the request on its way.

    Nobody else can read a request straight from this machine, and it cannot be https, which this
    server does not speak. Behind a proxy every request comes from there, which proves nothing.
    """
    if not settings.SECURE_SSL_REDIRECT or request.is_secure():
        return
    behind_proxy = settings.SECURE_PROXY_SSL_HEADER is not None
    if behind_proxy or not is_loopback(request.META.get("REMOTE_ADDR", "")):
        raise InClearError


def _redirect_to_https(request: HttpRequest) -> HttpResponse:
    """308: the method and the body stay the same."""
    try:
        address = f"https://{request.get_host()}{request.get_full_path()}"
    except DisallowedHost:
        return _refusal_response(400, _NO_HOST)
    answer = _empty_response(308)
    answer["Location"] = address
    return answer


def nowhere(_request: HttpRequest) -> HttpResponse:
    return _finish_response(_empty_response(404))


def bus_routes(api: NinjaAPI) -> list[URLPattern]:
    patterns = [pattern for pattern in api.urls[0] if isinstance(pattern, URLPattern)]
    for pattern in patterns:
        pattern.callback = _serve_view(pattern.callback)
    # Ninja has something at the root.
    return [pattern for pattern in patterns if pattern.name != "api-root"]


def _serve_view(view: Callable[..., Any]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def answer(request: HttpRequest, **parts: str) -> HttpResponse:
        if request.method == "HEAD":
            # The server drops the body of its answer.
            request.method = "GET"
        # From the server itself: Django reads nothing of a chunked body.
        body = LimitedStream(request.META["wsgi.input"], MAX_BODY_SIZE + 1)
        request.__dict__["_stream"] = body
        return _finish_response(view(request, **parts))

    return answer


def _finish_response(answer: HttpResponse) -> HttpResponse:
    if answer.status_code == 405:
        answer = _empty_response(404)
    # Without a Content-Length the server would send the body in chunks.
    if answer.status_code == 204:
        del answer["Content-Type"]
    else:
        answer["Content-Length"] = str(len(answer.content))
    if not answer.content and answer.status_code != 204:
        # Some clients would read JSON from nothing.
        answer["Content-Type"] = _TEXT
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
