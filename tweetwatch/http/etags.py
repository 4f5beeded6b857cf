"""ETags as proxies hand them back: one that compresses an answer marks its tag.

"9f…"  ─> Apache, Caddy, Jetty ─> "9f…-gzip", "9f…-br", "9f…;gzip" ─> the client ─> us: "9f…"

All comparisons (Django's and ours) see the tags without that.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.http import parse_etags

_CODINGS = re.compile(r'(?:(?:--?|;)(?:gzip|br|zstd|deflate))+(?=")')
_HEADERS = ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")


class ETagMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        for name in _HEADERS:
            if tags := request.META.get(name):
                request.META[name] = _CODINGS.sub("", tags)
        return self.get_response(request)


def is_among(header: str, tag: str) -> bool:
    """Whether the tags of a header have this one, or any. W/ makes no difference: a proxy that
    compresses weakens tags, too."""
    tags = {one.removeprefix("W/") for one in parse_etags(header)}
    return bool(tags & {"*", tag.removeprefix("W/")})
