"""The JSON object of a request, whatever its Content-Type says; null counts as absent."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest

from trackers.bus.answers import malformed

MOST_BYTES = 256 * 1024
CUT = "The body is incomplete. Send it again."


def object_of(request: HttpRequest) -> dict[str, Any]:
    try:
        found = orjson.loads(bytes_of(request))
    except ValueError:
        raise malformed("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise malformed("The body is not a JSON object.")
    return {name: value for name, value in found.items() if value is not None}


def bytes_of(request: HttpRequest) -> bytes:
    """Read from the server itself: Django reads nothing of a chunked body."""
    try:
        body: bytes = request.META["wsgi.input"].read(MOST_BYTES + 1)
    except OSError:
        raise malformed(CUT) from None
    if len(body) > MOST_BYTES:
        raise malformed(f"The body is too large: at most {MOST_BYTES:,} bytes.")
    # A client that went away may have sent part of a body that happens to be valid.
    if len(body) < int(request.META.get("CONTENT_LENGTH") or 0):
        raise malformed(CUT)
    return body
