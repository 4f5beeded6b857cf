"""Searches by people who may stop waiting: few at once, and none for those who have gone.

While a person types, the browser closes the connection of the previous search. A busy server may
not even have begun that one; and one that has begun ends within a second.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.http import HttpRequest

# Per process, to leave some of its threads and connections to the other pages.
AT_ONCE = 2
WAITS = timedelta(seconds=1)
LOOKS_UP_EVERY = 0.05

turns = threading.BoundedSemaphore(AT_ONCE)


class GivenUp(Exception):
    """The client is no longer waiting for the answer."""


class Busy(Exception):
    """Too many other searches are running."""


@contextmanager
def turn(request: HttpRequest) -> Iterator[None]:
    end = time.monotonic() + WAITS.total_seconds()
    while True:
        if has_gone(request):
            raise GivenUp
        if turns.acquire(timeout=LOOKS_UP_EVERY):
            break
        if time.monotonic() > end:
            raise Busy
    try:
        yield
    finally:
        turns.release()


def has_gone(request: HttpRequest) -> bool:
    """Whether the client, or the proxy for it, has closed the connection, if the server can tell.

    gunicorn can. After the last byte of a request come either nothing, the next request, or the end
    of the connection.
    """
    connection = request.META.get("gunicorn.socket")
    # If gunicorn itself does TLS, what was sent cannot be peeked at without reading it.
    if type(connection) is not socket.socket:
        return False
    try:
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0)) and not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
