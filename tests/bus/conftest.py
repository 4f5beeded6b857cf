"""The bus as clients meet it: `manage.py bus` as a process of its own, asked over its socket."""

import base64
import json
import os
import re
import socket
import subprocess
import sys
from itertools import count

import psycopg
import pytest

from tests.chaos.ground import wait_until
from tests.conftest import PROJECT
from tests.databases import OURS, TEMPLATE, clone, drop, url_of
from trackers.tokens.secret import digest_of

ROOT = "root-of-the-tests"
PATIENCE = 60
NUMBERS = count(1)
MAKE_ROOT = """
    INSERT INTO trackers_apitoken (name, digest, scope, made_at) VALUES ('root', %s, 'root', now())
"""


class Answer:
    """What came back on the socket: the status, the headers by small names, the bytes."""

    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines)
        }

    def json(self):
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)

    @property
    def sentence(self):
        assert self.headers["content-type"].startswith("text/plain")
        return self.body.decode().strip()


class Bus:
    def __init__(self, process, port, database):
        self.process, self.port, self.database = process, port, database

    def send(self, raw):
        """The answer to these very bytes; the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            line.sendall(raw)
            return Answer(b"".join(iter(lambda: line.recv(65536), b"")))

    def ask(self, method, path, body=None, *, token=None, headers=()):
        """`body`: bytes as they are, else it is sent as JSON; None: no body."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: bus.example", "Connection: close", *headers]
        if token is not None:
            lines.append(f"Authorization: {basic(token)}")
        if content is not None:
            lines.append(f"Content-Length: {len(content)}")
        return self.send("\r\n".join([*lines, "", ""]).encode() + (content or b""))

    def client(self, name=None):
        """A client with a token of its own."""
        name = name or f"client-{next(NUMBERS)}"
        made = self.ask("POST", "/api_tokens", {"name": name}, token=ROOT)
        assert made.status == 201, made.body
        return Client(self, name, made.json()["token"])

    def rows(self, statement, *given):
        with psycopg.connect(self.database) as db:
            return db.execute(statement, given).fetchall()

    def change(self, statement, *given):
        with psycopg.connect(self.database) as db:
            db.execute(statement, given)

    def state(self):
        """All that a request may have stored, but for the times of last reads."""
        return [
            self.rows("SELECT id, name, publisher, wanted FROM trackers_topic ORDER BY id"),
            self.rows("SELECT id, name, callback, secrets FROM trackers_subscriber ORDER BY id"),
            self.rows("SELECT * FROM trackers_subscription ORDER BY topic_id, subscriber_id"),
            self.rows("SELECT id, name FROM trackers_apitoken ORDER BY id"),
            self.rows("SELECT count(*) FROM trackers_event"),
        ]


class Client:
    def __init__(self, bus, name, token):
        self.bus, self.name, self.token = bus, name, token

    def ask(self, method, path, body=None, **given):
        return self.bus.ask(method, path, body, token=self.token, **given)

    def publish(self, topic, type="create", url="https://shop.example/orders/1", **more):
        return self.ask("POST", f"/topics/{topic}", {"type": type, "url": url, **more})

    def subscribe(self, *topics, callback="https://receiver.example/events", **more):
        given = {"topics": topics, "callback": callback, "uuid": "hello", **more}
        return self.ask("POST", "/subscription", given)

    def listed(self):
        """What the bus tells of this client as a subscriber; None if it is not one."""
        told = self.ask("GET", "/subscribers").json()
        return next((one for one in told if one["subscriber"] == self.name), None)


def basic(token, password="x"):
    return "Basic " + base64.b64encode(f"{token}:{password}".encode()).decode()


@pytest.fixture(scope="package")
def running_bus(django_db_setup, django_db_blocker, tmp_path_factory):
    name = f"{OURS}_bus"
    with django_db_blocker.unblock():
        clone(name, of=TEMPLATE)
        url = url_of(name)
        with psycopg.connect(url) as db:
            db.execute(MAKE_ROOT, [digest_of(ROOT)])
    log = tmp_path_factory.mktemp("bus") / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "bus", "--bind=127.0.0.1:0", "--workers=1"],
            cwd=PROJECT,
            env={
                **os.environ,
                "DATABASE_URL": url,
                "BUS_SCALE_ABOVE": "3",
                "HTTPS": "false",
            },
            stdout=out,
            stderr=out,
        )
    try:
        listening = r"Listening at: http://127\.0\.0\.1:(\d+)"
        match = wait_until(
            lambda: re.search(listening, log.read_text()) or process.poll() is not None,
            within=PATIENCE,
            what="the bus listens",
        )
        assert process.poll() is None, log.read_text()
        yield Bus(process, int(match[1]), url)
    finally:
        process.terminate()
        process.wait(PATIENCE)
        with django_db_blocker.unblock():
            drop(name)
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture
def bus(running_bus):
    """One server for all tests, which use names and topics of their own."""
    return running_bus


@pytest.fixture
def topic():
    """The name of a topic that no other test has."""
    letters = f"{next(NUMBERS):d}".translate({ord("0") + n: ord("a") + n for n in range(10)})
    return f"topic_{letters}"
