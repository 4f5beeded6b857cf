"""HTML, JSON and text are compressed by us, since most proxies leave them as they are.

Never what is sent while it is made (event streams, exports), nor the answer to a POST: a page or a
JSON that shows a secret once is one of these.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

_READING_METHODS = ("GET", "HEAD")
_COMPRESSED = frozenset({"text/html", "text/plain", "application/json", "application/feed+json"})


class CompressionMiddleware(GZipMiddleware):
    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """It weakens ETags; all comparisons take a weak one for the same (`etags`)."""
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if request.method not in _READING_METHODS or response.streaming or kind not in _COMPRESSED:
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
