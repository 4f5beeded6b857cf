"""A line to X for one set of keys: tweepy's client over our own transport, kept between calls."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

import requests
from tweepy.client import Client

from trackers.xapi.answers import WindowSeen
from trackers.xapi.errors import XError
from trackers.xapi.keys import Keys
from trackers.xapi.wire.headers import window_seen
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import Session
from trackers.xapi.wire.signing import sign_with
from trackers.xapi.wire.transport import RejectedReply, Reply, Wire
from trackers.xapi.wire.way import current

Answer = TypeVar("Answer", covariant=True)
Send = Callable[[], Reply]

PLACEHOLDER = "signed by the wire"


class Read(Protocol[Answer]):
    """Reads the body of a 200 about these ids; XError when it is not an answer."""

    def __call__(
        self, body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None
    ) -> Answer: ...


class Line:
    """For one thread: it has one connection, and one request at a time on it."""

    def __init__(self, keys: Keys, wire: Wire) -> None:
        self._secrets = tuple(keys.secrets.values())
        self.session = Session(wire)
        # The wire signs requests, so tweepy holds nothing it could log. With this return type it
        # returns what the session gave it.
        self.tweepy = Client(
            bearer_token=PLACEHOLDER, return_type=requests.Response, wait_on_rate_limit=False
        )
        self.tweepy.session = self.session

    def ask(
        self,
        endpoint: str,
        send: Send,
        read: Read[Answer],
        ids: Sequence[int],
    ) -> Answer:
        """Send, and read the reply; XError, with the reply's window, if it is no answer."""
        window: WindowSeen | None = None
        try:
            reply = send()
            window = window_seen(reply.headers, endpoint)
            return read(reply.body, ids, window=window)
        except RejectedReply as rejected:
            reply = rejected.reply
            seen = window_seen(reply.headers, endpoint)
            error = error_in(reply, seen, endpoint=endpoint)
        except XError as failure:
            error = failure
            error.window = window
        error.hide(self._secrets)
        raise error.with_traceback(None) from None

    def close(self) -> None:
        self.session.close()


class Lines(threading.local):
    """This thread's lines by key, each with what it was made from."""

    def __init__(self) -> None:
        self.known: dict[int | None, tuple[object, Line]] = {}


lines = Lines()


def line_for(keys: Keys, base_url: str, timeout: timedelta) -> Line:
    """The line of this process and thread; a new one when anything it was made from has changed."""
    # The pid: after a fork, two processes sharing a connection would read each other's replies.
    made_of = (os.getpid(), base_url, timeout, current(), keys.kind, digest_of(keys))
    known = lines.known.get(keys.pk)
    if known is not None and known[0] == made_of:
        return known[1]
    line = Line(keys, Wire(sign_with(keys), base_url=base_url, timeout=timeout))
    lines.known[keys.pk] = made_of, line
    return line


def digest_of(keys: Keys) -> bytes:
    secrets = "\0".join(f"{name}={value}" for name, value in sorted(keys.secrets.items()))
    return hashlib.sha256(secrets.encode()).digest()
