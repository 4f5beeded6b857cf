"""gunicorn as it is started here: no header says below which path the pages are."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from trackers.management.commands.bus import gunicorn as bus
from trackers.management.commands.demo import free_port, gunicorn, is_listening

ASKED = (
    b"GET /sources/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    b"SCRIPT_NAME: /sources\r\nPATH_INFO: /admin/\r\n\r\n"
)


def plain(port):
    """The README's line."""
    return [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", f"--bind=127.0.0.1:{port}"]


@pytest.fixture(scope="module", params=[plain, gunicorn], ids=["README", "demo"])
def served(request, tmp_path_factory):
    """Its port, and the file of its log."""
    port, file = free_port(0), tmp_path_factory.mktemp("served") / "log"
    with file.open("w") as log:
        process = subprocess.Popen(
            request.param(port),
            cwd=PROJECT,
            env={**os.environ, "HTTPS": "false", "BEHIND_PROXY": "false"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    end = time.monotonic() + 60
    while not is_listening(port) and time.monotonic() < end:
        time.sleep(0.1)
    yield port, file
    process.terminate()
    process.wait(30)


def test_a_script_name_header_changes_no_address(served):
    port, _ = served
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(ASKED)
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()

    assert answer.startswith("HTTP/1.1 302")
    assert "Location: /login/?next=/sources/\r\n" in answer


def test_three_hundred_ids_fit_into_an_address_and_a_head_leaves_no_warning(served):
    """As docs/api.md promises; a program writes each comma as %2C."""
    port, log = served
    ids = "%2C".join(["2117044012446646274"] * 300)
    address = f"/api/v1/exports/samples?format=jsonl&ids={ids}"
    for method in ("GET", "HEAD"):
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request(method, address, headers={"Host": "localhost"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Content-Type"]) == (401, "application/problem+json")
        assert (answer.read() == b"") == (method == "HEAD")
        assert int(answer.headers["Content-Length"]) > 0
    assert "body bytes" not in log.read_text()


def test_gunicorn_logs_are_json_where_the_settings_say_so(tmp_path):
    command = Path(sys.executable).with_name("gunicorn")
    flags = ("--bind=127.0.0.1:0", "--no-control-socket", "--access-logfile=-")
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            # The script, which has no imports from this folder at first.
            [command, "tweetwatch.wsgi", *flags],
            cwd=PROJECT, env={**os.environ, "LOG_FORMAT": "json"}, stdout=log, stderr=log,
        )  # fmt: skip
    end = time.monotonic() + 60
    while "Listening" not in (tmp_path / "log").read_text() and time.monotonic() < end:
        time.sleep(0.1)
    process.terminate()
    process.wait(30)

    told = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert any("Listening at" in one["message"] for one in told)


def test_the_bus_reads_the_same_settings():
    done = subprocess.run(
        [*bus("127.0.0.1:0", workers=1, threads=1), "--print-config"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert re.search(r"^forwarder_headers\s+= \[\]$", done.stdout, re.MULTILINE)
