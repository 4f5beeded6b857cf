"""Whether the web server was told to stop: it waits for running answers, so these must end then."""

from __future__ import annotations

import signal
import threading
from types import FrameType

is_stopping = threading.Event()


def watch_stop_signals() -> None:
    """Notice the signals that end the server of this process, before its own handlers do.

    To be called in the main thread, after the server has set its handlers.
    """
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        servers = signal.getsignal(number)
        if not callable(servers):
            continue

        def noticed(number: int, frame: FrameType | None, then: object = servers) -> None:
            is_stopping.set()
            then(number, frame)  # type: ignore[operator]

        signal.signal(number, noticed)
        # As gunicorn does: system calls under way are not interrupted.
        signal.siginterrupt(number, False)
