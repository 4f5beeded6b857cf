"""What all addresses have in common: HEAD wherever there is GET, problems for whatever goes wrong,
ETags, one answer for an Idempotency-Key, and how much of the limit is left.

Ninja does not know HEAD, and refuses in plain text. Unexpected errors are answered as ours, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import URLPattern, URLResolver
from django.utils.cache import get_conditional_response, patch_vary_headers, set_response_etag
from django.views.decorators.csrf import csrf_exempt
from ninja import Schema
from ninja.renderers import JSONRenderer

from trackers.api.wire.auth import use_of
from trackers.api.wire.errors import DATABASE_LOST, NO_METHOD, NOWHERE, SERVER_ERROR, TOO_LARGE
from trackers.api.wire.idempotency import answer_once
from tweetwatch.database import LOST, why_lost
from tweetwatch.http.json_bodies import NUL
from tweetwatch.http.problems import problem
from tweetwatch.schema import UnfitDatabaseError

logger = logging.getLogger(__name__)

View = Callable[..., Any]
Urls = tuple[list[URLResolver | URLPattern], str, str]


def answers_in_json(urls: Urls) -> Urls:
    for pattern in urls[0]:
        if isinstance(pattern, URLPattern):
            pattern.callback = _answer_in_json(pattern.callback)
    return urls


def _answer_in_json(view: View) -> View:
    # No cookies are used here, so no other site's page can abuse one. Each call asks for a token.
    @login_not_required
    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = request.method
        if asked == "HEAD":
            # HeadMiddleware drops the body.
            request.method = "GET"
        try:
            if "\0" in request.path_info:
                response = problem(404, NOWHERE)
            elif _query_has_nul(request):
                response = problem(400, NUL)
            else:
                response = answer_once(request, lambda: view(request, *args, **kwargs))
        except RequestDataTooBig:
            response = problem(413, TOO_LARGE)
        except LOST as error:
            logger.warning("answered 503, because the database failed: %s", why_lost(error))
            unfit = isinstance(error, UnfitDatabaseError)
            response = problem(503, str(error) if unfit else DATABASE_LOST)
        except Exception:
            # The path may hold a secret, so only the traceback shows which view it was.
            logger.exception("answered 500 to %s", asked)
            response = problem(500, SERVER_ERROR)
        finally:
            request.method = asked
        if asked == "HEAD" and isinstance(response, StreamingHttpResponse):
            # It is never started; the server closes it all the same, and so what it holds.
            response.streaming_content = ()
        if response.status_code == 405:
            response = _method_refusal(response["Allow"])
        return _with_headers(request, response)

    return answer


def _query_has_nul(request: HttpRequest) -> bool:
    return any("\0" in text for name, some in request.GET.lists() for text in (name, *some))


def _with_headers(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    answer = _with_etag(request, answer)
    if use := use_of(request):
        answer["RateLimit-Policy"] = f'"token";q={use.most};w=60'
        answer["RateLimit"] = f'"token";r={max(0, use.left)};t={use.seconds}'
        if use.is_over:
            answer["Retry-After"] = str(use.seconds)
    if answer.status_code == 503:
        answer["Retry-After"] = "5"
    return answer


def _with_etag(request: HttpRequest, answer: HttpResponse) -> HttpResponse:
    """The answer, or 304 if the program has it already."""
    patch_vary_headers(answer, ("Authorization",))
    looks = request.method in ("GET", "HEAD") and answer.status_code == 200
    if answer.streaming or not looks or not answer.content:
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer
    answer.headers.setdefault("Cache-Control", "private, no-cache")
    set_response_etag(answer)
    return get_conditional_response(request, etag=answer["ETag"], response=answer) or answer


def etag_of(schema: type[Schema], content: Any) -> str:
    """For `If-Match`: the ETag that a GET has which is answered with this."""
    document = schema.model_validate(content).model_dump()
    body = JSONRenderer().render(None, document, response_status=200)  # type: ignore[arg-type]
    return str(set_response_etag(HttpResponse(body))["ETag"])


def _method_refusal(allow: str) -> HttpResponse:
    takes = {method.strip() for method in allow.split(",")}
    if "GET" in takes:
        takes.add("HEAD")
    answer = problem(405, NO_METHOD)
    answer["Allow"] = ", ".join(sorted(takes))
    return answer
