"""Authentication: the user name of HTTP Basic is a token, and the password is ignored.

The token in BUS_ROOT_TOKEN is root's. All others are clients, named after their tokens.
"""

from __future__ import annotations

import base64
import secrets
import time
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.http import HttpRequest
from ninja.security.base import AuthBase

from trackers.bus.responses import refuse_in_clear
from trackers.tokens.secret import digest_of
from tweetwatch.database import cursor, persist
from tweetwatch.http.refusals import Refused

HOW = "Send it as the user name of HTTP Basic auth."
# How long a call waits for a restarting database.
RECONNECT_SECONDS = 1.0

# Plain SQL, as in `claim`: the ORM would take as long as everything else in publishing an event.
CLIENT_OF = "SELECT name, id FROM trackers_bustoken WHERE digest = ANY(%(digests)s)"


@dataclass(frozen=True, slots=True)
class Caller:
    """A client with its token, or root, which has none in the table."""

    name: str = ""
    token_id: int | None = None

    @property
    def is_root(self) -> bool:
        return self.token_id is None


class Basic(AuthBase):
    """The caller, if it is one of those who may ask."""

    openapi_type = "http"
    openapi_scheme = "basic"

    def __init__(self, needs: str, *, root: bool = False, clients: bool = False) -> None:
        super().__init__()
        self.needs, self.root, self.clients = needs, root, clients

    def __call__(self, request: HttpRequest) -> Caller:
        refuse_in_clear(request)
        caller = presented(request)
        if caller is None or not (self.root if caller.is_root else self.clients):
            raise Refused(401, f"This needs {self.needs}. {HOW}")
        return caller


ROOT = Basic("the root token", root=True)
# Root neither publishes nor subscribes.
CLIENT = Basic("a client's token", clients=True)
EITHER = Basic("a client's token or the root token", root=True, clients=True)


def caller_of(request: HttpRequest) -> Caller:
    return cast(Caller, getattr(request, "auth"))  # noqa: B009 - ninja puts it there


def presented(request: HttpRequest) -> Caller | None:
    """Whose token the request brings; None: nobody's."""
    basic = basic_of(request)
    if not basic:
        return None
    # A token may contain a colon, which also ends the user name: so we try both what HTTP calls the
    # user name and everything before the last colon.
    users = {basic.partition(":")[0], basic.rpartition(":")[0]} - {""}
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

    def find() -> Caller | None:
        with cursor() as db:
            row = db.execute(CLIENT_OF, {"digests": digests}).fetchone()
        return Caller(*row) if row else None

    return persist(find, until=time.monotonic() + RECONNECT_SECONDS)


def basic_of(request: HttpRequest) -> str:
    """The user and password as one text; empty if the header is missing or malformed."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        return ""
