"""The fake X as a process of its own, asked over HTTP; credentials with secrets of their own."""

import contextlib
import logging
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from django.db.models.functions import Now

from trackers.credentials.models import Credential
from trackers.credentials.renew import tokens_of
from trackers.money.models import App
from trackers.xapi.client import look_up
from trackers.xapi.keys import Secrets

PROJECT = Path(__file__).resolve().parents[1]
ENDPOINTS = ("GET /2/tweets", "GET /2/users", "GET /1.1/statuses/lookup")
OAUTH1 = {
    "consumer_key": "consumer-key",
    "consumer_secret": "consumer-secret",
    "access_token": "42-access-token",
    "access_token_secret": "token-secret",
}


class FakeX:
    def __init__(self, url):
        self.url = url
        self.asking = {"base_url": url, "timeout": timedelta(seconds=10)}

    def tell(self, method, path, **body):
        reply = requests.request(method, f"{self.url}/_fake/{path}", json=body, timeout=60)
        reply.raise_for_status()
        return reply.json()

    def fault(self, *rules):
        requests.put(f"{self.url}/_fake/faults", json=rules, timeout=60).raise_for_status()

    def ids(self, count):
        return [int(id) for id in self.tell("GET", "ids")["ids"][:count]]

    def visible_ids(self, count):
        """Ids of tweets that X shows."""
        collected = []
        for id in self.ids(1000):
            if isinstance(self.tell("GET", f"tweets/{id}")["answer"], dict | list):
                collected.append(id)
            if len(collected) == count:
                return collected
        raise AssertionError(f"the fake shows only {len(collected)} tweets")

    def log(self):
        """What was asked, and the status of each answer; 0 is no answer."""
        return [
            (entry["endpoint"], entry["status"]) for entry in self.tell("GET", "log")["entries"]
        ]

    def reset(self):
        for subject in ("faults", "limits", "credentials", "log", "tweets", "connections"):
            self.tell("DELETE", subject)
        self.tell("PUT", "credentials", strict=False)
        self.tell("PUT", "latency", ms=0, token_ms=0)
        self.tell("PUT", "limits", **{name: {"token": 5000, "app": 3500} for name in ENDPOINTS})


@pytest.fixture(scope="session")
def running_fake():
    process = subprocess.Popen(
        [sys.executable, "-m", "fakex", "--port", "0", "--tweets", "1000"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    url = process.stdout.readline().split()[-1]
    yield FakeX(url)
    # Not asked to end: it would wait for replies that a test made it delay.
    process.kill()
    process.wait(10)
    process.stdout.close()


@pytest.fixture
def fake(running_fake):
    running_fake.reset()
    return running_fake


class Peer:
    """A server that sends scripted bytes, whatever it is asked, and keeps what it was asked."""

    def __init__(self):
        self.heard, self.accepted = [], 0
        self._script, self._over = [], threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.asking = {
            "base_url": f"http://127.0.0.1:{self._listener.getsockname()[1]}",
            "timeout": timedelta(seconds=10),
        }
        threading.Thread(target=self._accept, daemon=True).start()

    def says(self, *pieces, every=0.0):
        """One reply, in pieces sent `every` so many seconds; None as a piece hangs up."""
        self._script.append((pieces, every))

    def says_json(self, body, *headers, status="200 OK"):
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        self.says("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def close(self):
        self._over.set()
        self._listener.close()

    def _accept(self):
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        with peer, contextlib.suppress(OSError):
            while True:
                request = b""
                while b"\r\n\r\n" not in request:
                    more = peer.recv(65536)
                    if not more:
                        return
                    request += more
                self.heard.append(request.decode())
                pieces, every = self._script.pop(0)
                for piece in pieces:
                    if piece is None or self._over.wait(every):
                        return
                    peer.sendall(piece)


@pytest.fixture
def peer():
    peer = Peer()
    yield peer
    peer.close()


@pytest.fixture
def bearer():
    """An unsaved credential: the client needs no database."""
    return Credential(name="bearer", kind="bearer", secrets=Secrets({"bearer_token": "a-token"}))


@pytest.fixture
def oauth1(fake):
    fake.tell("POST", "credentials", kind="oauth1", name="signer", **OAUTH1)
    return Credential(name="signer", kind="oauth1", secrets=Secrets(OAUTH1))


def save_credential(name, **fields):
    secrets = fields.pop("secrets", {"bearer_token": f"token-of-{name}"})
    app = App.objects.named(fields.pop("app", name), fields.pop("project", ""))
    return Credential.objects.create(
        **{"name": name, "kind": "bearer", "app": app, "secrets": Secrets(secrets), **fields}
    )


def consent(fake, name="user", *, client_secret=None, **registered):
    """A user's tokens as X and our table know them; `registered` is what X knows otherwise."""
    secrets = {"client_id": "client-id", "access_token": f"access-of-{name}",
               "refresh_token": f"refresh-of-{name}"}  # fmt: skip
    if client_secret:
        secrets["client_secret"] = client_secret
    given = {"kind": "oauth2", "name": name, **secrets, **registered}
    fake.tell("POST", "credentials", **given)
    fake.tell("PUT", "credentials", strict=True)
    return save_credential(name, kind="oauth2", secrets=secrets)


def look_up_with_tokens(credential, ids, **asking):
    """As a batch does: renewed first, where its tokens end."""
    with tokens_of(credential, **asking) as keys:
        return look_up(keys, ids, **asking)


def ends_in(credential, **left):
    """As if X had told that the access token ends then; and no mark is on it."""
    Credential.objects.filter(pk=credential.pk).update(
        expires_at=Now() + timedelta(**left), refreshing_until=None
    )


def wait_until(fact, *, within=60):
    end = time.monotonic() + within
    while not fact():
        assert time.monotonic() < end, f"not so within {within} s"
        time.sleep(0.02)


@pytest.fixture
def everything_logged(caplog):
    """DEBUG for every logger there is, as if someone had lowered them all."""
    names = list(logging.root.manager.loggerDict)
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    caplog.set_level(logging.DEBUG)
    yield caplog
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)
