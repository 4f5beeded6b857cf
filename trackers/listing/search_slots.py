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
_MAX_CONCURRENT_SEARCHES = 2
MAX_WAIT_FOR_SLOT = timedelta(seconds=1)
_CLIENT_CHECK_SECONDS = 0.05

slots = threading.BoundedSemaphore(_MAX_CONCURRENT_SEARCHES)


class ClientGone(Exception):
    """The client is no longer waiting for the answer."""


class NoFreeSlot(Exception):
    """Too many other searches are running."""


@contextmanager
def search_slot(request: HttpRequest) -> Iterator[None]:
    end = time.monotonic() + MAX_WAIT_FOR_SLOT.total_seconds()
    while True:
        if _has_gone(request):
            raise ClientGone
        if slots.acquire(timeout=_CLIENT_CHECK_SECONDS):
            break
        if time.monotonic() > end:
            raise NoFreeSlot
    try:
        yield
    finally:
        slots.release()


def _has_gone(request: HttpRequest) -> bool:
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
