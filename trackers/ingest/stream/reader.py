"""A thread that reads the stream into a bounded queue, so that slow storing does not block it.

When the queue is full it stops reading: TCP slows X down, which may say SlowReader and close.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from dataclasses import dataclass
from datetime import timedelta

from trackers.xapi.errors import XError
from trackers.xapi.stream import Opened

logger = logging.getLogger(__name__)

# Some 40 MB of lines.
_MOST_WAITING = 20_000
_BATCH_SIZE, _MAX_BATCH_SIZE = 200, 1000
_WITHIN = timedelta(milliseconds=250)
_A_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Heard:
    """A line, empty for a keep-alive, and time.monotonic() when it was read."""

    line: bytes
    at: float
    waited: bool  # the socket was empty before it, so everything X had sent before has been read


@dataclass(frozen=True, slots=True)
class End:
    """Why no more lines come."""

    error: XError | None = None  # None when X closed the connection, or we did


class Reader:
    """Reads one open stream until its end, or until it is closed."""

    def __init__(self, opened: Opened, *, most_waiting: int = _MOST_WAITING) -> None:
        self._opened = opened
        self._heard: queue.Queue[Heard | End] = queue.Queue(most_waiting)
        self._closed, self._left = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._read, name="stream", daemon=True)
        self._thread.start()

    def take(self, within: timedelta = _WITHIN) -> list[Heard | End]:
        """What was heard `within` that time: `BATCH_SIZE` or, if more waits, `MAX_BATCH_SIZE`."""
        taken: list[Heard | End] = []
        ends = time.monotonic() + within.total_seconds()
        while len(taken) < _MAX_BATCH_SIZE:
            left = ends - time.monotonic() if len(taken) < _BATCH_SIZE else 0.0
            try:
                item = self._heard.get(timeout=left) if left > 0 else self._heard.get_nowait()
            except queue.Empty:
                break
            taken.append(item)
            if isinstance(item, End):
                break
        return taken

    def close(self) -> None:
        """Stop reading from X; what was already read can still be taken, followed by an End."""
        self._closed.set()
        self._opened.close()

    def leave(self) -> None:
        """Close, and drop what has not been taken."""
        self._left.set()
        self.close()

    def _read(self) -> None:
        end = End()
        try:
            for line, waited in self._opened.lines():
                if not self._put(Heard(line, time.monotonic(), waited)):
                    break
        except XError as error:
            end = End(error)
        except Exception:
            # Without an End the other thread would wait forever.
            logger.exception("the stream's reader failed")
        self._heard_end(end)

    def _put(self, heard: Heard) -> bool:
        """Wait for room; False if it was closed meanwhile: the lost line will be part of a hole."""
        while True:
            try:
                self._heard.put(heard, timeout=_A_LOOK_SECONDS)
                return True
            except queue.Full:
                if self._closed.is_set():
                    return False

    def _heard_end(self, end: End) -> None:
        while not self._left.is_set():
            try:
                self._heard.put(end, timeout=_A_LOOK_SECONDS)
                return
            except queue.Full:
                continue
