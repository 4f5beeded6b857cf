"""A page and its parts have one address. A tick names the part that it asks for (`?part=figures`),
and the view reads only what that part shows.

A part is a partial of the page's template. Its name is in the address, so no cache mistakes one for
the other. It is sent only when it differs from what was sent before:

part ─> its words, without what the page counts on by itself ─> digest ─> ETag, or 304
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from tweetwatch.http.etags import is_among

Context = Mapping[str, object]
PartReader = Callable[[], Context]
# "5 min ago" follows from the time beside it, and each answer has a token of its own. Two patterns,
# since each is looked for by the letters that it begins with.
_VOLATILE = (
    re.compile(rb"data-relative[^<]*(?=</time>)"),
    re.compile(rb"name=\"csrfmiddlewaretoken\" value=\"[^\"]*"),
)


def part_of(request: HttpRequest) -> str | None:
    """The part that is asked for; None for the page."""
    return request.GET.get("part")


def render_parts(
    request: HttpRequest,
    template: str,
    parts: Mapping[str, PartReader],
    *,
    shared: Context,
    frame: PartReader = dict,
    alone: Mapping[str, PartReader] | None = None,
) -> HttpResponse:
    """The page, or the part that the request names; 404 for a part that it does not have.

    `parts`: what reads the context of each partial. `shared`: what all of them show. `frame`: reads
    what only the page shows, around its parts. `alone`: parts that are read in another way when the
    page shows them, so only a request for them reads this.
    """
    part = part_of(request)
    if part is None:
        context = {**shared, **frame()}
        for read in parts.values():
            context.update(read())
        return render(request, template, context)
    reader = {**parts, **(alone or {})}.get(part)
    if reader is None:
        raise Http404(f"This page has no part {part[:80]!r}.")
    return render(request, f"{template}#{part}", {**shared, **reader()})


def is_kiosk(request: HttpRequest) -> bool:
    return request.GET.get("kiosk") == "1"


class RefreshMiddleware:
    """For the parts of a page that htmx asks for; morph.js sends the digest along."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not (isinstance(response, HttpResponse) and _is_part(request, response)):
            return response
        digest = _weak_digest(response.content)
        if is_among(request.headers.get("If-None-Match", ""), digest):
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
