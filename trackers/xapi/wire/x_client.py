"""A client of X for one set of keys: tweepy's, over our own transport, kept between calls."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import requests
from tweepy.client import Client

from trackers.xapi.errors import XError
from trackers.xapi.keys import Keys
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.headers import window_seen
from trackers.xapi.wire.network import current_route
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import RejectedReply, Reply, Session
from trackers.xapi.wire.signing import sign_with

Result = TypeVar("Result", covariant=True)
Send = Callable[[], Reply]

PLACEHOLDER = "signed by the session"


class Read(Protocol[Result]):
    """Reads the body of a 200 about these ids; XError when it is not an answer."""

    def __call__(
        self, body: bytes, ids: Sequence[int], /, *, window: WindowSeen | None
    ) -> Result: ...


class _Tweepy(Client):
    """tweepy's client, which knows the other vocabulary's parameter as well (`vocabulary`).

    tweepy 4.17.0 would send it too, but log each time that it is unexpected.
    """

    def _process_params(
        self, params: Mapping[str, Any], endpoint_parameters: Iterable[str]
    ) -> dict[str, Any]:
        known = (*endpoint_parameters, "post.fields")
        processed: dict[str, Any] = super()._process_params(params, known)
        return processed


def tweepy_parameter(name: str) -> str:
    """What tweepy calls a parameter of X's."""
    return name.replace(".", "_")


class XClient:
    """For one thread: it has one connection, and one request at a time on it."""

    def __init__(self, keys: Keys, session: Session) -> None:
        self._secrets = tuple(keys.secrets.values())
        self.session = session
        # The session signs requests, so tweepy holds nothing it could log. With this return type it
        # returns what the session gave it.
        self.tweepy = _Tweepy(
            bearer_token=PLACEHOLDER, return_type=requests.Response, wait_on_rate_limit=False
        )
        self.tweepy.session = session

    def ask(
        self,
        endpoint: str,
        send: Send,
        read: Read[Result],
        ids: Sequence[int],
    ) -> Result:
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
            error.window = error.window or window
        error.hide(self._secrets)
        raise error.with_traceback(None) from None

    def close(self) -> None:
        self.session.close()


class _ClientsOfThread(threading.local):
    """This thread's clients by the key's id, each with what it was made from."""

    def __init__(self) -> None:
        self.known: dict[int | None, tuple[object, XClient]] = {}


_clients = _ClientsOfThread()


def client_for(keys: Keys, base_url: str, timeout: timedelta) -> XClient:
    """The client of this process and thread; a new one once anything it was made from changed."""
    # The pid: after a fork, two processes sharing a connection would read each other's replies.
    made_of = (os.getpid(), base_url, timeout, current_route(), keys.kind, _keys_digest(keys))
    known = _clients.known.get(keys.pk)
    if known is not None and known[0] == made_of:
        return known[1]
    client = XClient(keys, Session(sign_with(keys), base_url=base_url, timeout=timeout))
    _clients.known[keys.pk] = made_of, client
    return client


def _keys_digest(keys: Keys) -> bytes:
    secrets = "\0".join(f"{name}={value}" for name, value in sorted(keys.secrets.items()))
    return hashlib.sha256(secrets.encode()).digest()
