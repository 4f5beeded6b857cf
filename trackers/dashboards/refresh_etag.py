"""What a page asks for again and again is sent only when it differs from what was sent before.

fragment ─> its words, without what the page counts on by itself ─> digest ─> ETag, or 304
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

# "5 min ago" follows from the time beside it, and each answer has a token of its own. Two patterns,
# since each is looked for by the letters that it begins with.
_VOLATILE = (
    re.compile(rb"data-relative [^<]*(?=</time>)"),
    re.compile(rb"name=\"csrfmiddlewaretoken\" value=\"[^\"]*"),
)


class RefreshMiddleware:
    """For the parts of a page that htmx asks for; morph.js sends the digest along."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not (isinstance(response, HttpResponse) and _is_part(request, response)):
            return response
        digest = _weak_digest(response.content)
        if request.headers.get("If-None-Match") == digest:
            response = HttpResponse(status=304)
        response.headers["ETag"] = digest
        # The browser would keep one with the form tokens of a session that is over.
        response.headers["Cache-Control"] = "private, no-store"
        return response


def _is_part(request: HttpRequest, response: HttpResponse) -> bool:
    is_asked = request.method == "GET" and "HX-Request" in request.headers
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    return is_asked and is_html and response.status_code == 200


def _weak_digest(content: bytes) -> str:
    """Weak: two answers of one digest say the same, and are not the same bytes."""
    for pattern in _VOLATILE:
        content = pattern.sub(b"", content)
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    return f'W/"{digest}"'
