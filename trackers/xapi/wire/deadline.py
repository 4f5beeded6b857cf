"""Replies that have a deadline as a whole.

The usual read timeout starts again with every byte, so a server that sends one byte a second
holds a worker for ever. Here the timeout that urllib3 sets before it reads a reply runs once,
until the reply's last byte, headers and body alike.
"""

from __future__ import annotations

import io
import time
from http.client import HTTPResponse
from socket import SocketIO
from typing import Any, cast


class DeadlineReader(io.RawIOBase):
    """A socket's bytes; each read may take only what is left of the time."""

    def __init__(self, raw: SocketIO, sock: Any) -> None:
        self._raw, self._sock = raw, sock
        timeout = sock.gettimeout()
        self._ends = None if timeout is None else time.monotonic() + timeout

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._ends is not None:
            left = self._ends - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class DeadlineResponse(HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        raw = cast(SocketIO, self.fp.detach())
        self.fp = io.BufferedReader(DeadlineReader(raw, sock))
