"""An archive in a bucket of S3, or of what speaks like it.

By obstore, an extra as pyarrow is, which takes keys, region and address from the environment
(AWS_…). Of what goes wrong only a sentence of ours leaves this module: a service may quote keys.
"""

from __future__ import annotations

import errno
import io
import os
import re
import ssl
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

if TYPE_CHECKING:
    from obstore import WritableFile
    from obstore.store import S3Store

# What a page reads: one attempt, since the page waits no longer.
_HASTY = {"connect_timeout": "1s", "timeout": "1s"}
# What a worker reads and writes, and an export reads: while anything arrives. A piece is sent
# within the silence, and a task is stopped only between two of them.
_PATIENCE_S = 12
_PATIENT = {"connect_timeout": "3s", "read_timeout": f"{_PATIENCE_S}s", "timeout": "5m"}
_RETRIES, _RETRIED_WITHIN = 1, timedelta(seconds=5)
# A file is sent in pieces of this size, the least that S3 takes, two at a time.
_PIECE = 5 * 2**20
_PIECES_AT_ONCE = 2
_BROKEN_OFF = "The bucket's answer broke off, or is none of S3."
# What obstore says, as it looks inside; the first that fits.
_SENTENCES = {
    "redirect without LOCATION": "The bucket is in another region: set AWS_REGION.",
    "InvalidCertificate": "The bucket's certificate is not trusted: set EGRESS_CA_FILE.",
    "kind: Connect": "The bucket cannot be reached.",
    "kind: Timeout": "The bucket takes too long to answer.",
}
_STATUS = re.compile(r"status(?: code)?: (\d{3})")


@dataclass(frozen=True, slots=True)
class S3Bucket:
    """As `store.Directory`. A file gets its name with the last request of its writing."""

    url: str

    def __str__(self) -> str:
        return self.url

    @contextmanager
    def writing(self, path: str) -> Iterator[BinaryIO]:
        """If the block fails, pieces may be left that nobody sees, until a life-cycle rule removes
        them."""
        import obstore

        with _in_our_words(path):
            writer = obstore.open_writer(
                _client(self.url), path, buffer_size=_PIECE, max_concurrency=_PIECES_AT_ONCE
            )
        yield cast(BinaryIO, _Upload(path, writer))
        with _in_our_words(path):
            writer.close()

    def create(self, path: str, data: bytes) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with _in_our_words(path):
            try:
                obstore.put(_client(self.url), path, data, mode="create")
            except AlreadyExistsError:
                return False
        return True

    def read(self, path: str) -> bytes | None:
        import obstore

        try:
            with _in_our_words(path):
                return bytes(obstore.get(_client(self.url), path).bytes())
        except FileNotFoundError:
            return None

    def names(self, folder: str, pattern: str) -> list[str]:
        import obstore

        with _in_our_words(folder):
            listed = obstore.list(_client(self.url), prefix=folder)
            paths = [PurePosixPath(one["path"]) for some in listed for one in some]
        return sorted(str(path) for path in paths if path.match(f"{folder}/{pattern}"))

    def has(self, path: str) -> bool:
        import obstore

        try:
            with _in_our_words(path):
                obstore.head(_client(self.url), path)
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        """A copy of it."""
        import obstore

        with tempfile.TemporaryFile() as file:
            with _in_our_words(path):
                for block in obstore.get(_client(self.url), path).stream(min_chunk_size=2**20):
                    file.write(block)
            file.seek(0)
            yield file

    def read_ranges(
        self, path: str, ranges: Sequence[tuple[int, int]], *, is_hasty: bool
    ) -> list[bytes]:
        import obstore

        starts, ends = zip(*ranges, strict=True)
        with _in_our_words(path):
            client = _client(self.url, hasty=is_hasty)
            # Of ranges that it put together, a file that is shorter would end the thread.
            answers = obstore.get_ranges(client, path, starts=starts, ends=ends, coalesce=0)
        pieces = [bytes(answer) for answer in answers]
        if [len(piece) for piece in pieces] != [end - start for start, end in ranges]:
            raise OSError(_BROKEN_OFF)
        return pieces

    def remove(self, path: str) -> None:
        import obstore

        with _in_our_words(path):
            obstore.delete(_client(self.url), path)

    def keeps_versions(self, path: str) -> bool:
        """A bucket that never kept versions gives a file none, and object lock needs them.

        obstore asks for such a header, and does not hand it on; so it only signs.
        """
        import obstore

        with _in_our_words(path):
            client = _client(self.url)
            place = urlsplit(obstore.sign(client, "HEAD", path, timedelta(minutes=1)))
        try:
            with closing(_connection(place)) as connection:
                connection.request("HEAD", f"{place.path}?{place.query}")
                return "x-amz-version-id" in connection.getresponse().headers
        # What http.client says may quote the address, which is a key for a minute.
        except (OSError, HTTPException):
            raise OSError("The bucket cannot be asked whether it keeps versions.") from None


class _Upload(io.RawIOBase):
    """As pyarrow writes to a file."""

    def __init__(self, path: str, writer: WritableFile) -> None:
        self._path, self._writer = path, writer

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with _in_our_words(self._path):
            return self._writer.write(data)


@cache
def _client(url: str, *, hasty: bool = False) -> S3Store:
    """Its connections are kept. Not before a fork: it has threads of its own."""
    from obstore.store import S3Store

    options: dict[str, Any] = dict(_HASTY if hasty else _PATIENT)
    # The settings were refused otherwise.
    options["allow_http"] = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
    if settings.EGRESS_CA_FILE:
        with open(settings.EGRESS_CA_FILE, "rb") as certificates:
            options["root_certificate"] = certificates.read()
    return S3Store.from_url(
        url,
        # Some services do not have the call that deletes several.
        config={"disable_bulk_delete": True},
        client_options=cast(Any, options),
        retry_config={"max_retries": 0 if hasty else _RETRIES, "retry_timeout": _RETRIED_WITHIN},
    )


def _connection(place: SplitResult) -> HTTPConnection:
    if place.scheme == "http":
        return HTTPConnection(place.netloc, timeout=_PATIENCE_S)
    trusted = ssl.create_default_context()
    if settings.EGRESS_CA_FILE:
        trusted.load_verify_locations(settings.EGRESS_CA_FILE)
    return HTTPSConnection(place.netloc, timeout=_PATIENCE_S, context=trusted)


@contextmanager
def _in_our_words(path: str) -> Iterator[None]:
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError as error:
        if "NoSuchBucket" in str(error):
            raise OSError("There is no such bucket.") from None
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
    except BaseError as error:
        raise OSError(_sentence(str(error))) from None


def _sentence(text: str) -> str:
    if status := _STATUS.search(text):
        what = {"401": ": it does not know the keys", "403": ": the keys do not permit it"}
        return f"The bucket answered {status[1]}{what.get(status[1], '')}."
    for sign, sentence in _SENTENCES.items():
        if sign in text:
            return sentence
    return _BROKEN_OFF
