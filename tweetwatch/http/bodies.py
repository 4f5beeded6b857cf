"""How much of a body is read, and from whom.

everywhere, before sign-in ─> 64 kB · everywhere, after it ─> 2.5 MB, few at once, in memory
the import's address       ─> a file, once the permission is checked (`takes_files`)

A body is as long as its Content-Length says: Django reads no more, so a larger one is refused
before anything of it is read. No file is stored anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest
from django.http.request import UnreadablePostError
from django.template.defaultfilters import filesizeformat

from tweetwatch.http.lasting import LastingPlaces
from tweetwatch.http.refusals import Refused

View = TypeVar("View", bound=Callable[..., object])

STRANGERS_MOST = 64 * 1024
# Per process, which has eight threads as `deploy/` starts it: each takes one while it arrives.
_MAX_LARGE_BODIES = 2
_MAX_FILES_RECEIVED = 2
_SILENCE_SECONDS = 30.0
_RETRY_SECONDS = 5
STRANGERS_LIMIT = (
    "Log in first: until then this server reads no more than 64 kB. Nothing was carried out."
)
TOO_LATE = "This request did not arrive in time, or not as a whole. Send it again."
_NO_PLACE = (
    "Other large requests are arriving, and this server reads only a few at once. Nothing was "
    f"carried out; try again in {_RETRY_SECONDS} seconds."
)

_NO_FILE_PLACE = (
    "Other files are being uploaded, and this server receives only a few at once. Wait until one "
    "of them is done, and upload yours again."
)

_places = LastingPlaces(_MAX_LARGE_BODIES)
_file_places = LastingPlaces(_MAX_FILES_RECEIVED)


def takes_files(view: View) -> View:
    """Marks a view that limits and receives the body itself, after it checked who asks."""
    view.__dict__["takes_files"] = True
    return view


def body_size(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def receive_body(request: HttpRequest) -> None:
    """Read the body of somebody who is known; whoever asks for it afterwards finds it there."""
    size = body_size(request)
    if size <= STRANGERS_MOST or hasattr(request, "_body"):
        return
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if most is not None and size > most:
        raise Refused(413, _too_large(most))
    if not _places.acquire():
        raise Refused(503, _NO_PLACE)
    try:
        request.body  # noqa: B018 - read here first
    except UnreadablePostError:
        raise Refused(408, TOO_LATE) from None
    finally:
        _places.release()


@contextmanager
def receiving_file(request: HttpRequest, *, most: int) -> Iterator[None]:
    """For the whole of a request that may bring a file of so many bytes."""
    size = body_size(request)
    if size > most + STRANGERS_MOST:
        raise Refused(413, _too_large(most))
    if size <= STRANGERS_MOST:
        yield
        return
    if not _file_places.acquire():
        raise Refused(503, _NO_FILE_PLACE)
    if arrived := getattr(request.META.get("wsgi.input"), "arrived", None):
        # A file takes as long as it takes, while something comes (`http.arriving`).
        arrived.silence = _SILENCE_SECONDS
    try:
        yield
    finally:
        _file_places.release()


def _too_large(most: int) -> str:
    return (
        f"This request is too large: send less at a time, at most {filesizeformat(most)}. Nothing "
        "was carried out."
    )


class NoFiles(FileUploadHandler):
    """What a form may bring as a file is left out."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        raise SkipFile

    def file_complete(self, file_size: int) -> None:
        return None
