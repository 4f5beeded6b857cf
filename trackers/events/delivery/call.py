"""A call to an address that a person gave, and its answer. Light, since models import it: what
makes the call (`post`) imports an HTTP client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

# A longer Retry-After of a subscriber is cut to this.
RETRY_AFTER_MOST = timedelta(hours=1)
# The read buffer: 4 KB of headers is plenty.
READ_BYTES = 4096
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)(?: [^\r\n]*)?\r?\n")
_INTERIM = re.compile(rb"\AHTTP/1\.[01] 1\d\d[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to make; its address and its headers may be secrets."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    of: str  # what it is, in the log


@dataclass(slots=True)
class Answer:
    """The answer, as far as it was read."""

    status: int | None = None  # None: there was none
    error: str = ""  # a sentence; empty where `is_yes`
    took: timedelta = timedelta(0)
    retry_after: str = ""
    text: bytes = b""
    # As the first complete status line says that is not of an interim response (100, 103).
    status_read: int | None = None
    _head: bytes = b""

    @property
    def is_yes(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    def read_status(self, data: bytes) -> None:
        if self.status_read is not None or len(self._head) > READ_BYTES:
            return
        self._head += data
        while interim := _INTERIM.match(self._head):
            self._head = self._head[interim.end() :]
        if line := _STATUS_LINE.match(self._head):
            self.status_read = int(line[1])


def retry_after(text: str, *, now: datetime) -> timedelta | None:
    """The wait that Retry-After asks for, in seconds or as a date; None if it is neither."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        most = int(RETRY_AFTER_MOST.total_seconds())
        return timedelta(seconds=min(int(text[:10]), most))
    with suppress(ValueError, TypeError, OverflowError):
        at = parsedate_to_datetime(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return None
