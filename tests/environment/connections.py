"""Real connections to the web server as it is started here, but for less patience."""

import socket
import time
from contextlib import contextmanager, suppress
from http.client import HTTPResponse

from django.conf import settings

from tests.api.server import serving
from tests.conftest import PROJECT
from tests.databases import OURS, TEMPLATE, clone, drop, url_of

PATIENCE = 60
THREADS = 12
LARGE = 600 << 20
FORM = "Content-Type: application/x-www-form-urlencoded"
# With it anybody has a form read, to look for its token.
TOKEN_COOKIE = f"Cookie: {settings.CSRF_COOKIE_NAME}=x"
MULTIPART = "Content-Type: multipart/form-data; boundary=b"
FILE = (
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n'
    b"Content-Type: application/octet-stream\r\n\r\n"
)
SOONER = f"""
exec(open("{PROJECT}/gunicorn.conf.py").read())
from tweetwatch.http import arriving
arriving.HEAD_SECONDS, arriving.BODY_SECONDS = 2.0, 3.0
"""


@contextmanager
def web_server(name, folder, blocker, *, threads=THREADS, **settings):
    """On a database of its own."""
    name = f"{OURS}_{name}"
    with blocker.unblock():
        clone(name, of=TEMPLATE)
        url = url_of(name)
    log, config = folder / "log", folder / "conf.py"
    config.write_text(SOONER)
    try:
        with serving(url, log, threads=threads, config=config, **settings) as running:
            yield running
        assert "Traceback" not in log.read_text(), log.read_text()
    finally:
        with blocker.unblock():
            drop(name)


@contextmanager
def connected(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
        yield line


def head(method, path, *headers):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


def answer_to(line):
    """The status and the content of the next answer."""
    answer = HTTPResponse(line)
    answer.begin()
    return answer.status, answer.read()


def trickle(line, data=b"x", *, every=0.5):
    """The answer, which comes although the request does not: some bytes now and then."""
    end = time.monotonic() + PATIENCE
    line.settimeout(every)
    while time.monotonic() < end:
        with suppress(OSError):
            line.sendall(data)
        with suppress(TimeoutError):
            return answer_to(line)
    raise AssertionError("It goes on for ever.")


def begin_file(line, path, *headers):
    """The head and the first bytes of a form with a file: far from all that it announces."""
    line.sendall(head("POST", path, MULTIPART, f"Content-Length: {LARGE}", *headers))
    line.sendall(FILE + b"\0" * 50_000)


def is_healthy(port):
    with connected(port) as line:
        line.sendall(head("GET", "/healthz"))
        return answer_to(line) == (200, b"ok\n")
