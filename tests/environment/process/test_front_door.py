"""What anybody may send to the web server: real connections to gunicorn as it is started here."""

import json
import socket
from contextlib import contextmanager
from http.client import HTTPResponse

import pytest

from tests.api.server import TOKEN, serving
from tests.bus.conftest import running_bus  # noqa: F401 - a fixture
from tests.databases import OURS, TEMPLATE, clone, drop, url_of

pytestmark = pytest.mark.django_db

PATIENCE = 60
LARGE = 600 << 20
FILE = (
    b'--b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n'
    b"Content-Type: application/octet-stream\r\n\r\n"
)
MULTIPART = "multipart/form-data; boundary=b"
ADDRESSES = ["/login/", "/nowhere/at/all/", "/sources/import/", "/tweets/track", "/metrics"]


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    name = f"{OURS}_door"
    with django_db_blocker.unblock():
        clone(name, of=TEMPLATE)
        url = url_of(name)
    try:
        with serving(url, tmp_path_factory.mktemp("door") / "log") as running:
            yield running
    finally:
        with django_db_blocker.unblock():
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


def begin_file(line, path, *headers, size=LARGE):
    """The head and the first bytes of a form with a file: far from all that it announces."""
    line.sendall(
        head("POST", path, f"Content-Type: {MULTIPART}", f"Content-Length: {size}", *headers)
    )
    line.sendall(FILE + b"\0" * 50_000)


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_file_of_a_stranger_is_refused_before_it_is_sent(server, path):
    with connected(server.port) as line:
        begin_file(line, path, "Cookie: csrftoken=x")

        assert answer_to(line)[0] in (302, 404, 405, 413)


def test_a_large_body_without_a_valid_token_is_refused_unread(server):
    with connected(server.port) as line:
        begin_file(line, "/api/v1/timelines/append", "Authorization: Bearer nobody")

        assert answer_to(line)[0] == 401


def test_a_large_body_with_a_token_is_refused_unread(server):
    with connected(server.port) as line:
        begin_file(line, "/api/v1/timelines/get_multi", f"Authorization: Bearer {TOKEN}")

        assert answer_to(line)[0] == 413


def test_a_stranger_may_send_64_kb(server):
    form = b"username=x&password=" + b"x" * 60_000
    kind = "Content-Type: application/x-www-form-urlencoded"
    with connected(server.port) as line:
        line.sendall(head("POST", "/login/", kind, f"Content-Length: {len(form)}") + form)

        assert answer_to(line)[0] == 403


def test_a_body_in_chunks_is_refused_with_a_sentence(server):
    with connected(server.port) as line:
        line.sendall(head("POST", "/login/", "Transfer-Encoding: chunked") + b"0\r\n\r\n")

        status, raw = answer_to(line)

    assert status == 411
    assert b"Content-Length" in raw


def test_a_large_body_of_a_known_program_arrives(server):
    body = json.dumps({"asks": [{"name": "a" * 200}] * 1_000}).encode()
    kind = ("Content-Type: application/json", f"Authorization: Bearer {TOKEN}")
    with connected(server.port) as line:
        line.sendall(
            head("POST", "/api/v1/timelines/get_multi", *kind, f"Content-Length: {len(body)}")
        )
        line.sendall(body)

        status, raw = answer_to(line)

    assert (status, b"asks" in raw) == (400, True)


def test_the_bus_reads_nothing_large_of_a_stranger(running_bus):  # noqa: F811
    with connected(running_bus.port) as line:
        begin_file(line, "/topics/orders")

        assert answer_to(line)[0] == 401
