"""Pages beside all that people and strangers do at once: sockets that trickle, an upload without
end, and the event streams of a thousand tabs of one account, which come back when they are told to.
"""

import re
import time
from contextlib import ExitStack, contextmanager, suppress
from statistics import quantiles
from threading import Event, Thread

import pytest

from tests.api.server import TOKEN
from tests.environment.connections import (
    FILE,
    FORM,
    LARGE,
    MULTIPART,
    TOKEN_COOKIE,
    answer_to,
    connected,
    head,
    web_server,
)
from tests.environment.process.test_front_door import logged_in
from trackers.events.live.stream import busy

pytestmark = [pytest.mark.django_db, pytest.mark.alone, pytest.mark.more]

SOCKETS, STREAMS, STREAM_THREADS = 10, 1_000, 4
# As long as a browser waits before it opens a stream again that had no place.
RETRY_SECONDS = int(re.search(rb"retry: (\d+)", busy())[1]) / 1000
PAGES = ["/", "/tweets/", "/sources/", "/operations/", "/alerts/", "/live/"]
ROUNDS = 40
TIMES_QUIET = 2


@pytest.fixture
def server(django_db_setup, django_db_blocker, tmp_path):
    with web_server("siege", tmp_path, django_db_blocker) as running:
        yield running


def seconds_of_pages(server, person):
    """How long each page took, one after the other, as a person goes from page to page."""
    taken = []
    for _ in range(ROUNDS):
        for page in PAGES:
            began = time.monotonic()
            with connected(server.port) as line:
                line.sendall(head("GET", page, *person))
                assert answer_to(line)[0] == 200
            taken.append(time.monotonic() - began)
    return taken


def p95(seconds):
    return quantiles(seconds, n=20)[-1]


def trickling(server, over):
    """One byte of a form at a time; once it is cut off, anew."""
    start = head("POST", "/login/", TOKEN_COOKIE, FORM, "Content-Length: 60000")
    while not over.is_set():
        with suppress(OSError), connected(server.port) as line:
            line.sendall(start)
            while not over.wait(0.5):
                line.sendall(b"x")


def uploading(server, person, over):
    """A megabyte a second, and never the end."""
    while not over.is_set():
        with suppress(OSError), connected(server.port) as line:
            length = f"Content-Length: {LARGE}"
            line.sendall(head("POST", "/sources/import/", MULTIPART, length, *person) + FILE)
            while not over.wait(0.1):
                line.sendall(b"2117044012446646274\n" * 5_000)


def streaming(server, over):
    """Its part of the tabs: what gets a place keeps it, all others come again."""
    request = head("GET", "/api/v1/events/stream?topics=alerts", f"Authorization: Bearer {TOKEN}")
    with ExitStack() as held:
        while not over.is_set():
            with suppress(OSError):
                line = held.enter_context(connected(server.port))
                line.sendall(request)
                line.recv(65536)
            over.wait(RETRY_SECONDS * STREAM_THREADS / STREAMS)


@contextmanager
def siege(server, person):
    over = Event()
    threads = [
        *(Thread(target=trickling, args=(server, over)) for _ in range(SOCKETS)),
        Thread(target=uploading, args=(server, person, over)),
        *(Thread(target=streaming, args=(server, over)) for _ in range(STREAM_THREADS)),
    ]
    for thread in threads:
        thread.start()
    try:
        # Until each of the tabs has come once.
        time.sleep(RETRY_SECONDS)
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_pages_take_at_most_twice_as_long_in_a_siege(server):
    person = logged_in(server)
    seconds_of_pages(server, person)

    before = seconds_of_pages(server, person)
    with siege(server, person):
        during = seconds_of_pages(server, person)
    quiet = [*before, *seconds_of_pages(server, person)]

    print(f"\np95 in quiet {p95(quiet):.3f} s, in a siege {p95(during):.3f} s")
    assert p95(during) <= TIMES_QUIET * p95(quiet)
