"""A line to X for one credential: tweepy's client over our own transport, kept between calls."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol, TypeVar, cast

import requests
from tweepy.client import Client

from trackers.xapi.answers import WindowSeen
from trackers.xapi.errors import XError
from trackers.xapi.headers import window_seen
from trackers.xapi.models import Credential
from trackers.xapi.refusals import error_in
from trackers.xapi.signing import sign_with
from trackers.xapi.transport import Rejected, Reply, Wire, session_over

Answer = TypeVar("Answer", covariant=True)


PLACEHOLDER = "signed by the wire"


Send = Callable[[], requests.Response]


class Read(Protocol[Answer]):
    """Reads the body of a 200 to these ids; XError when it is not an answer."""

    def __call__(
        self, body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None
    ) -> Answer: ...


class Line:
    """For one thread: a requests session is not documented to bear more."""

    def __init__(self, credential: Credential, *, base_url: str, timeout: timedelta) -> None:
        self._secrets = tuple(credential.secrets.values())
        wire = Wire(sign_with(credential), base_url=base_url, timeout=timeout)
        self.session = session_over(wire)
        # The wire signs; tweepy is told nothing that it could write to a log.
        self.tweepy = Client(
            bearer_token=PLACEHOLDER, return_type=requests.Response, wait_on_rate_limit=False
        )
        self.tweepy.session = self.session

    def ask(
        self,
        endpoint: str,
        send: Callable[[], requests.Response],
        read: Read[Answer],
        ids: Sequence[int],
    ) -> Answer:
        """Send, and read the reply; XError, with the reply's window, when there is no answer."""
        window: WindowSeen | None = None
        try:
            reply = cast(Reply, send())
            window = window_seen(reply.headers, endpoint)
            return read(reply.body, ids, window=window)
        except Rejected as rejected:
            reply = rejected.reply
            error = error_in(reply, window_seen(reply.headers, endpoint))
        except XError as failure:
            error = failure
            error.window = window
        error.hide(self._secrets)
        raise error.with_traceback(None) from None

    def close(self) -> None:
        self.session.close()


class Lines(threading.local):
    """This thread's lines by credential, each with what it was made of."""

    def __init__(self) -> None:
        self.known: dict[int | None, tuple[object, Line]] = {}


lines = Lines()


def line_for(credential: Credential, base_url: str, timeout: timedelta) -> Line:
    """The line of this process and thread; a new one when anything that it is made of changed."""
    # The process: two that share a connection after a fork would read each other's replies.
    made_of = (os.getpid(), base_url, timeout, credential.kind, digest_of(credential))
    known = lines.known.get(credential.pk)
    if known is not None and known[0] == made_of:
        return known[1]
    line = Line(credential, base_url=base_url, timeout=timeout)
    lines.known[credential.pk] = made_of, line
    return line


def digest_of(credential: Credential) -> bytes:
    secrets = "\0".join(f"{name}={value}" for name, value in sorted(credential.secrets.items()))
    return hashlib.sha256(secrets.encode()).digest()
