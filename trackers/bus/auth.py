"""Authentication: the user name of HTTP Basic is a token, and the password is ignored.

The token in BUS_ROOT_TOKEN is root's. All others are clients, named after their tokens.
"""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from trackers.bus.answers import Refused, View
from trackers.tokens.secret import digest_of
from tweetwatch.database import cursor, persist

HOW = "Send it as the user name of HTTP Basic auth."
# How long a call waits for a restarting database.
RECONNECT_SECONDS = 1.0

# Plain SQL, as in `claim`: the ORM would take as long as everything else in publishing an event.
CLIENT = "SELECT name, id FROM trackers_bustoken WHERE digest = ANY(%(digests)s)"


@dataclass(frozen=True, slots=True)
class Caller:
    """A client with its token, or root, which has none in the table."""

    name: str = ""
    token_id: int | None = None

    @property
    def is_root(self) -> bool:
        return self.token_id is None


def for_root(view: View) -> View:
    """Only root may ask."""

    @wraps(view)
    def answer(request: HttpRequest, **parts: str) -> HttpResponse:
        caller = caller_of(request)
        if caller is None or not caller.is_root:
            raise Refused(401, f"This needs the root token. {HOW}")
        return view(request, **parts)

    return answer


def for_client(view: Callable[..., HttpResponse]) -> View:
    """A client may ask; the view gets it as `caller`. Root neither publishes nor subscribes."""

    @wraps(view)
    def answer(request: HttpRequest, **parts: Any) -> HttpResponse:
        caller = caller_of(request)
        if caller is None or caller.is_root:
            raise Refused(401, f"This needs a client's token. {HOW}")
        return view(request, caller=caller, **parts)

    return answer


def for_both(view: Callable[..., HttpResponse]) -> View:
    """A client or root may ask; the view gets it as `caller`."""

    @wraps(view)
    def answer(request: HttpRequest, **parts: Any) -> HttpResponse:
        caller = caller_of(request)
        if caller is None:
            raise Refused(401, f"This needs a client's token or the root token. {HOW}")
        return view(request, caller=caller, **parts)

    return answer


def caller_of(request: HttpRequest) -> Caller | None:
    told = basic_of(request)
    if not told:
        return None
    # A token may contain a colon, which also ends the user name: so we try both what HTTP calls the
    # user name and everything before the last colon.
    users = {told.partition(":")[0], told.rpartition(":")[0]} - {""}
    # Even for root, to find out whether the connection is alive.
    client = client_of([digest_of(user) for user in users])
    return Caller() if is_root(users) else client


def is_root(users: set[str]) -> bool:
    root = settings.BUS_ROOT_TOKEN.encode()
    return bool(root) and any(secrets.compare_digest(user.encode(), root) for user in users)


def client_of(digests: list[str]) -> Caller | None:
    """The first statement of every call, so a dead connection is noticed here and reopened. Nothing
    after it is retried: it may have been committed before the connection broke.
    """

    def found() -> Caller | None:
        with cursor() as db:
            row = db.execute(CLIENT, {"digests": digests}).fetchone()
        return Caller(*row) if row else None

    return persist(found, until=time.monotonic() + RECONNECT_SECONDS)


def basic_of(request: HttpRequest) -> str:
    """The user and password as one text; empty if the header is missing or malformed."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        return ""
