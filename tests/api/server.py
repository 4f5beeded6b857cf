"""The web server as people run it: gunicorn with threads, on a database of its own."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
from contextlib import contextmanager

import psycopg

from tests.chaos.ground import wait_until
from tests.conftest import PROJECT
from trackers.outbox.publish import PUBLISH_EVENTS
from trackers.tokens.secret import digest_of

PATIENCE = 60
TOKEN = "a-token-of-the-tests"
ADA = """
    WITH ada AS (
        INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser,
                               is_staff, is_active, date_joined)
        VALUES ('ada', '!', '', '', '', true, true, true, now()) RETURNING id
    )
    INSERT INTO trackers_apitoken (user_id, name, digest, made_at, scope)
    SELECT id, 'a test', %s, now(), 'read' FROM ada
"""


class Lines:
    """An answer that goes on: its head, and the blocks of its events as they come."""

    def __init__(self, port, path, **headers):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        given = {"Host": "localhost", "Authorization": f"Bearer {TOKEN}", **headers}
        lines = [f"GET /api/v1/events/stream{path} HTTP/1.0"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self.rest = b""
        self.head = self.until(b"\r\n\r\n").decode()

    def until(self, end):
        while end not in self.rest:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError(self.rest)
            self.rest += more
        found, _, self.rest = self.rest.partition(end)
        return found

    def block(self):
        """The fields of the next block; a comment is one without a name."""
        lines = self.until(b"\n\n").decode().split("\n")
        return {name: value for name, _, value in (line.partition(": ") for line in lines)}

    def all(self):
        """The blocks until it ends."""
        collected = []
        try:
            while True:
                collected.append(self.block())
        except EOFError:
            return collected

    def kill(self):
        """As a process that dies: what was sent and not read is lost."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Reader:
    """As a browser's EventSource: it comes back with the id of the last block that it got whole."""

    def __init__(self, server, query, last=""):
        self.server, self.query, self.last = server, query, last
        self.opened = []
        self.open()

    def open(self):
        self.lines = self.server.stream(self.query, Last_Event_ID=self.last)
        self.opened.append(self.block())

    def block(self):
        block = self.lines.block()
        self.last = block.get("id", self.last)
        return block

    def events(self, count):
        """The next ones: how each is named, and its data."""
        collected = []
        while len(collected) < count:
            try:
                block = self.block()
            except EOFError:
                self.open()
                continue
            if "data" in block and block["event"] != "stream-busy":
                collected.append((block["event"], json.loads(block["data"])))
        return collected


class Server:
    def __init__(self, process, log, port, database):
        self.process, self.log, self.port, self.database = process, log, port, database

    def stream(self, query="?topics=alerts", **headers):
        return Lines(self.port, query, **headers)

    def rows(self, statement, *given):
        with psycopg.connect(self.database) as db:
            return db.execute(statement, given).fetchall()

    def publish(self, *numbers, topic="alerts", data=None):
        rows = {"topics": topic, "types": "create", "ts": None, "tweets": None, "data": data}
        with psycopg.connect(self.database) as db:
            db.execute(
                PUBLISH_EVENTS,
                {name: [one] * len(numbers) for name, one in rows.items()}
                | {"urls": [f"https://here.example/{number}" for number in numbers]},
            )

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def serving(database, log, *, threads=4, config="gunicorn.conf.py", **settings):
    with psycopg.connect(database) as db:
        db.execute(ADA, (digest_of(TOKEN),))
    flags = f"--config={config} --bind=127.0.0.1:0 --threads={threads} --no-control-socket"
    env = {name: value for name, value in os.environ.items() if name != "DATABASE_POOL"}
    env |= {"DATABASE_URL": database, "HTTPS": "false", "ALLOWED_HOSTS": "localhost", **settings}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "tweetwatch.wsgi", *flags.split()],
            cwd=PROJECT, env=env, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        listening = r"Listening at: http://127\.0\.0\.1:(\d+)"
        match = wait_until(
            lambda: re.search(listening, log.read_text()) or process.poll() is not None,
            within=PATIENCE,
            what="the web server listens",
        )
        assert process.poll() is None, log.read_text()
        yield Server(process, log, int(match[1]), database)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)


def numbers(events):
    return [int(data["url"].rsplit("/", 1)[1]) for _, data in events]
