"""Files that are sent while they are read: few at once, since each takes a thread of the process
and may hold one of its connections to the database for as long as its reader likes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from trackers.api.wire.errors import Refused
from tweetwatch.tables import FORMS

# Per process, which has eight threads and connections as `deploy/` starts it.
AT_ONCE = 2
# A reader that takes nothing for so long loses the rest.
SILENCE_SECONDS = 30.0
TAKEN = "Other files are being sent. Ask again when they are done; Retry-After says when to try."
GIVES_TABLES: dict[str, Any] = {
    "responses": {
        200: {
            "description": "OK",
            "content": {
                form.content_type.partition(";")[0]: {"schema": {"type": "string"}}
                for form in FORMS.values()
            },
        },
        501: {"$ref": "#/components/responses/Problem501"},
    }
}

places = threading.BoundedSemaphore(AT_ONCE)


class Held:
    """The content of an answer, which has a place until the server closes it, read or not."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self.lock, self.is_held = blocks, threading.Lock(), True

    def __iter__(self) -> Held:
        return self

    def __next__(self) -> bytes:
        return next(self.blocks)

    def close(self) -> None:
        with self.lock:
            if self.is_held:
                self.is_held = False
                places.release()


def in_a_place(
    request: HttpRequest, make: Callable[[], StreamingHttpResponse]
) -> StreamingHttpResponse:
    """What `make` returns, in a place of its own; without a free one it is 503."""
    if not places.acquire(blocking=False):
        raise Refused(503, TAKEN)
    try:
        answer = make()
    except BaseException:
        places.release()
        raise
    if connection := request.META.get("gunicorn.socket"):
        connection.settimeout(SILENCE_SECONDS)
    answer.streaming_content = Held(iter(answer))
    return answer
