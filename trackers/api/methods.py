"""The methods an address takes: HEAD wherever there is GET; others are refused with our errors.

Ninja does not know HEAD, and refuses in plain text. Unexpected errors are answered as ours, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver
from django.views.decorators.csrf import csrf_exempt

from trackers.api.errors import AWAY, BROKEN, NO_METHOD
from tweetwatch.database import LOST

logger = logging.getLogger(__name__)

View = Callable[..., HttpResponse]
Urls = tuple[list[URLResolver | URLPattern], str, str]


def answers_in_json(urls: Urls) -> Urls:
    for one in urls[0]:
        if isinstance(one, URLPattern):
            one.callback = in_json(one.callback)
    return urls


def in_json(view: View) -> View:
    # No cookies are used here, so no other site's page can abuse one. Each call asks for a token.
    @login_not_required
    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = request.method
        if asked == "HEAD":
            # The server drops the body.
            request.method = "GET"
        try:
            given = view(request, *args, **kwargs)
        except LOST as error:
            logger.warning("answered 503, as the database failed: %s", type(error).__name__)
            return JsonResponse({"error": AWAY}, status=503)
        except Exception:
            # The path may hold a secret, so only the traceback shows which view it was.
            logger.exception("answered 500 to %s", asked)
            return JsonResponse({"error": BROKEN}, status=500)
        finally:
            request.method = asked
        if asked == "HEAD" and given.streaming:
            # The stream is never started.
            given = HttpResponse(status=given.status_code, headers=given.headers)
        return refused(given["Allow"]) if given.status_code == 405 else given

    return answer


def refused(allow: str) -> JsonResponse:
    takes = {method.strip() for method in allow.split(",")}
    if "GET" in takes:
        takes.add("HEAD")
    headers = {"Allow": ", ".join(sorted(takes))}
    return JsonResponse({"error": NO_METHOD}, status=405, headers=headers)
