"""HTML, JSON and text are compressed by us, since most proxies leave them as they are.

Never what is sent while it is made (event streams, exports), nor the answer to a POST: a page or a
JSON that shows a secret once is one of these, or is marked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import add_never_cache_headers

_READING_METHODS = ("GET", "HEAD")
_COMPRESSED = frozenset({"text/html", "text/plain", "application/json", "application/feed+json"})


def shows_secret(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Mark a page with a secret: neither compressed, nor stored by a browser."""

    @wraps(view)
    def marked(*args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(*args, **kwargs)
        response.__dict__["shows_secret"] = True
        add_never_cache_headers(response)
        return response

    return marked


class CompressionMiddleware(GZipMiddleware):
    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """It weakens ETags; all comparisons take a weak one for the same (`etags`)."""
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if request.method not in _READING_METHODS or response.streaming or kind not in _COMPRESSED:
            return response
        if getattr(response, "shows_secret", False):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
