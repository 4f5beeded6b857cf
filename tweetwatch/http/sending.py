"""Files that are sent while they are read: few at once, since each takes a thread of the process
and may hold one of its connections to the database for as long as its reader likes.

Pages and the API share the places.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from django.http import HttpRequest, StreamingHttpResponse

from tweetwatch.http.lasting import LastingPlaces

# Per process, which has eight threads and connections as `deploy/` starts it.
MAX_FILES_SENT = 2
# A reader that takes nothing for this long loses the rest.
_SILENCE_SECONDS = 30.0
# What Retry-After says to those who found no place.
RETRY_SECONDS = 5

places = LastingPlaces(MAX_FILES_SENT)


class NoPlace(Exception):
    """All places are taken by files that are being sent; ask again after RETRY_SECONDS."""


class HeldContent:
    """The content of an answer, which has a place until the server closes it, read or not."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self.lock, self.is_held = blocks, threading.Lock(), True

    def __iter__(self) -> HeldContent:
        return self

    def __next__(self) -> bytes:
        return next(self.blocks)

    def close(self) -> None:
        with self.lock:
            if self.is_held:
                self.is_held = False
                places.release()

    # An answer that nobody closes, because a middleware failed after the view.
    __del__ = close


def send_in_place(
    request: HttpRequest, make: Callable[[], StreamingHttpResponse]
) -> StreamingHttpResponse:
    """What `make` returns, in a place of its own; NoPlace without a free one."""
    if not places.acquire():
        raise NoPlace
    try:
        answer = make()
    except BaseException:
        places.release()
        raise
    if connection := request.META.get("gunicorn.socket"):
        connection.settimeout(_SILENCE_SECONDS)
    answer.streaming_content = HeldContent(iter(answer))
    return answer
