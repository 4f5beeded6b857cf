"""Users are real processes; each test ends its server by ending them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tweetwatch.embedded.place import Place
from tweetwatch.embedded.postmaster import is_alive, live_postmaster
from tweetwatch.embedded.status import keeper_pid

PROJECT = Path(__file__).resolve().parents[2]
USE = """
import sys
from pathlib import Path
from tweetwatch.embedded import database_url
print(database_url(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""
# The reasons on one line, in place of the URL.
REFUSED = """
import sys
from pathlib import Path
from tweetwatch.embedded import EmbeddedPostgresError, database_url
try:
    print(database_url(Path(sys.argv[1]), within=2))
except EmbeddedPostgresError as error:
    print(str(error).replace("\\n", " "))
"""


def poll(condition, *, seconds=30.0):
    """The first true value of `condition`, else the last false one."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


class User:
    """A process that asked for the database; it lives until told to leave."""

    def __init__(self, directory, *, code=USE, through=(), **environment):
        self.process = subprocess.Popen(
            [*through, sys.executable, "-c", code, str(directory)],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SECRET_KEY": "a user's own", **environment},
        )

    def url(self):
        return self.process.stdout.readline().strip()

    def leave(self):
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()

    def die(self):
        self.process.kill()
        self.leave()


class Server:
    """What a test sees of the server under one directory."""

    def __init__(self, directory):
        self.directory = directory
        self.place = Place.at(directory)
        self.users = []

    def user(self, *, code=USE, through=(), **environment):
        self.users.append(User(self.directory, code=code, through=through, **environment))
        return self.users[-1]

    def postmaster(self):
        return live_postmaster(self.place.data)

    def keeper(self):
        return keeper_pid(self.place)

    def is_over(self):
        return self.postmaster() is None and self.keeper() is None

    def close(self):
        for user in self.users:
            user.die()
        assert poll(self.is_over), self.place.keeper_log.read_text()


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "pg")
    yield server
    server.close()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """For tests that change nothing: one server under a path that must be quoted."""
    server = Server(tmp_path_factory.mktemp("shared") / "Odd 1% 'q' & +")
    server.url = server.user().url()
    yield server
    server.close()


def fetch(url, query):
    with psycopg.connect(url, connect_timeout=5) as connection:
        return connection.execute(query).fetchall()


def fetch_or_none(url, query):
    try:
        return fetch(url, query)
    except psycopg.Error:
        return None


def has_ended(process):
    return not is_alive(process)
