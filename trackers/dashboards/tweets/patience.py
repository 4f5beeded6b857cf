"""Searches of somebody who does not wait: few at once, and none for who has gone.

A browser that types on closes the connection of its former search. The server has then perhaps not
begun with it, since it was busy with those before; and what it has begun ends in a second.
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

# In one process: so that some of its threads and connections are left for the other pages.
AT_ONCE = 2
WAITS = timedelta(seconds=1)
LOOKS_UP_EVERY = 0.05

turns = threading.BoundedSemaphore(AT_ONCE)


class GivenUp(Exception):
    """Nobody waits for the answer any more."""


class Busy(Exception):
    """Too many others are searching."""


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
    """Whether the asker, or the proxy for it, has closed the connection, if the server shows it.

    gunicorn does. Behind the last byte of a request there is either silence, the next request, or
    the end.
    """
    connection = request.META.get("gunicorn.socket")
    # With TLS in gunicorn itself nobody can look at what was sent without reading it.
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
