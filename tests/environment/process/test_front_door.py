"""What anybody may send to the web server: real connections to gunicorn as it is started here."""

import json
import re
import socket
import time
from contextlib import ExitStack, suppress

import psycopg
import pytest
import requests
from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.api.server import TOKEN
from tests.environment.connections import (
    FILE,
    FORM,
    MULTIPART,
    THREADS,
    TOKEN_COOKIE,
    answer_to,
    begin_file,
    connected,
    head,
    is_healthy,
    trickle,
    web_server,
)
from trackers.events.live.stream import busy
from tweetwatch.http import crowds

pytestmark = pytest.mark.django_db

FEW_THREADS = 4
ADDRESSES = ["/login/", "/nowhere/at/all/", "/sources/import/", "/tweets/track", "/metrics"]


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("door")
    with web_server("door", folder, django_db_blocker) as running:
        yield running


@pytest.fixture
def crowded(django_db_setup, django_db_blocker, tmp_path):
    """A server of its own: its streams keep their threads for a while after their clients left."""
    settings = {"EVENT_STREAMS": str(crowds.MOST_OF_ONE)}
    with web_server("crowd", tmp_path, django_db_blocker, **settings) as running:
        yield running


@pytest.fixture
def few_threads(django_db_setup, django_db_blocker, tmp_path):
    """A server whose streams may take more threads than it has, and do not end by themselves."""
    settings = {"EVENT_STREAMS": "9", "EVENT_STREAM_SECONDS": "3600"}
    with web_server("few", tmp_path, django_db_blocker, threads=FEW_THREADS, **settings) as running:
        yield running


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_file_of_a_stranger_is_refused_before_it_is_sent(server, path):
    with connected(server.port) as line:
        begin_file(line, path, TOKEN_COOKIE)

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
    with connected(server.port) as line:
        line.sendall(head("POST", "/login/", FORM, f"Content-Length: {len(form)}") + form)

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


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ",
        head("POST", "/login/", TOKEN_COOKIE, FORM, "Content-Length: 1000") + b"a",
        head("POST", "/login/", "Transfer-Encoding: chunked") + b"ff\r\na",
    ],
    ids=["nothing", "half a head", "half a form", "half a chunk"],
)
def test_connections_on_which_nothing_is_complete_hold_no_thread(server, start):
    with ExitStack() as held:
        for _ in range(2 * THREADS):
            held.enter_context(connected(server.port)).sendall(start)

        assert is_healthy(server.port)


@pytest.mark.parametrize(
    "start",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ",
        head("POST", "/login/", TOKEN_COOKIE, FORM, "Content-Length: 60000"),
        head(
            *("POST", "/api/v1/timelines/get_multi", f"Authorization: Bearer {TOKEN}"),
            "Content-Length: 100000",
        ),
    ],
    ids=["head", "small body", "large body"],
)
def test_a_request_that_trickles_ends_with_408(server, start):
    with connected(server.port) as line:
        line.sendall(start)

        assert trickle(line)[0] == 408


def test_a_silent_connection_is_closed(server):
    with connected(server.port) as line:
        assert line.recv(1) == b""


def test_a_head_without_end_is_refused(server):
    with connected(server.port) as line:
        with suppress(OSError):
            line.sendall(b"GET / HTTP/1.1\r\n" + b"X-A: " + b"x" * 100_000)

        assert answer_to(line)[0] == 431


def test_a_form_in_pieces_arrives_as_a_whole(server):
    form = b"username=x&password=y"
    with connected(server.port) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in (head("POST", "/login/", FORM, f"Content-Length: {len(form)}"), form):
            for part in (piece[:15], piece[15:]):
                line.sendall(part)
                time.sleep(0.05)

        assert answer_to(line)[0] == 403


def test_requests_follow_each_other_on_one_connection(server):
    form = head("POST", "/login/", FORM, "Content-Length: 3") + b"a=1"
    with connected(server.port) as line:
        # Some at once, and some later.
        line.sendall(head("GET", "/healthz") + form + head("GET", "/nowhere/") + form)
        line.sendall(head("GET", "/healthz", "Connection: close"))
        raw = b"".join(iter(lambda: line.recv(65536), b""))

    assert re.findall(rb"HTTP/1.1 (\d+)", raw) == [b"200", b"403", b"404", b"403", b"200"]


def test_a_client_that_waits_before_it_sends_a_body_is_asked_for_it(server):
    with connected(server.port) as line:
        line.sendall(head("POST", "/login/", FORM, "Expect: 100-continue", "Content-Length: 3"))
        assert line.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(b"a=1")

        assert answer_to(line)[0] == 403


def test_an_end_that_stays_open_delays_no_other_client(server):
    with ExitStack() as held:
        for _ in range(2 * THREADS):
            line = held.enter_context(connected(server.port))
            line.sendall(head("GET", "/healthz", "Connection: close"))
            assert answer_to(line)[0] == 200

        assert is_healthy(server.port)


def logged_in(server):
    """The headers of a person who may import."""
    hashed = PBKDF2PasswordHasher().encode("not a secret", "salt", iterations=1)
    with psycopg.connect(server.database) as db:
        db.execute("UPDATE auth_user SET password = %s", [hashed])
    with requests.Session() as session:
        session.trust_env = False
        address = f"http://localhost:{server.port}/login/"
        session.get(address)
        form = {"username": "ada", "password": "not a secret"}
        form["csrfmiddlewaretoken"] = session.cookies[settings.CSRF_COOKIE_NAME]
        answer = session.post(address, form, allow_redirects=False)
        assert answer.status_code == 302
        pairs = "; ".join(f"{name}={value}" for name, value in session.cookies.items())
    return f"Cookie: {pairs}", f"X-CSRFToken: {session.cookies[settings.CSRF_COOKIE_NAME]}"


def test_a_file_may_take_longer_than_a_form(server):
    lines = b"2117044012446646274\n" * 4_000
    body, person = FILE + lines + b"\r\n--b--\r\n", logged_in(server)
    with connected(server.port) as line:
        length = f"Content-Length: {len(body)}"
        line.sendall(head("POST", "/sources/import/", MULTIPART, length, *person))
        for at in range(0, len(body), 10_000):
            time.sleep(0.5)
            line.sendall(body[at : at + 10_000])

        assert answer_to(line)[0] == 302


def test_more_streams_of_one_token_are_answered_without_a_look_at_it(crowded):
    stream = ("GET", "/api/v1/events/stream?topics=alerts")
    with ExitStack() as held:
        for _ in range(crowds.MOST_OF_ONE):
            line = held.enter_context(connected(crowded.port))
            line.sendall(head(*stream, f"Authorization: Bearer {TOKEN}"))
            assert b"200 OK" in line.recv(65536)
        line = held.enter_context(connected(crowded.port))
        line.sendall(head(*stream, "Authorization: Bearer nobody"))
        assert answer_to(line)[0] == 401
        line = held.enter_context(connected(crowded.port))
        line.sendall(head(*stream, f"Authorization: Bearer {TOKEN}"))

        status, content = answer_to(line)

    # Its id would be that of the newest event, which takes a look at the database.
    assert (status, content) == (200, busy())


def test_an_unknown_host_is_one_line_of_the_log(server):
    before = len(server.log.read_text())
    with connected(server.port) as line:
        line.sendall(head("GET", "/login/").replace(b"localhost", b"203.0.113.9"))
        assert answer_to(line)[0] == 400

    text = server.log.read_text()[before:]
    assert len([line for line in text.splitlines() if "203.0.113.9" in line]) == 1
    assert "Traceback" not in text


def test_streams_leave_threads_to_pages_however_many_may_be_open(few_threads):
    stream = head("GET", "/api/v1/events/stream?topics=alerts", f"Authorization: Bearer {TOKEN}")
    with ExitStack() as held:
        for _ in range(FEW_THREADS):
            line = held.enter_context(connected(few_threads.port))
            line.sendall(stream)
            assert b"200 OK" in line.recv(65536)

        assert is_healthy(few_threads.port)
        with connected(few_threads.port) as line:
            line.sendall(head("GET", "/login/"))
            assert answer_to(line)[0] == 200
