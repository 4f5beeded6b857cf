"""Authentication: the user name of HTTP Basic is a token, and the password is ignored.

A token has a scope: root's, which creates and revokes tokens, or a client's, named after its token.
"""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from typing import cast

from django.http import HttpRequest
from ninja.security.base import AuthBase

from trackers.bus.responses import refuse_in_clear
from trackers.tokens.secret import digest_of
from tweetwatch.database import cursor, retry_while_lost
from tweetwatch.http.refusals import Refused

HOW_TO_AUTHENTICATE = "Send it as the user name of HTTP Basic auth."
# How long a call waits for a restarting database.
_RECONNECT_SECONDS = 1.0

# Plain SQL, as in `claim`: the ORM would take as long as everything else in publishing an event.
_FIND_CALLER = """
    SELECT name, id, scope = 'root' FROM trackers_apitoken
    WHERE digest = ANY(%(digests)s) AND scope IN ('bus', 'root') AND revoked_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """A client, or root, by the name of its token."""

    name: str
    token_id: int
    is_root: bool


class Basic(AuthBase):
    """The caller, if it is one of those who may ask."""

    openapi_type = "http"
    openapi_scheme = "basic"

    def __init__(self, needs: str, *, root: bool = False, clients: bool = False) -> None:
        super().__init__()
        self.needs, self.root, self.clients = needs, root, clients

    def __call__(self, request: HttpRequest) -> Caller:
        refuse_in_clear(request)
        caller = _identify_caller(request)
        if caller is None or not (self.root if caller.is_root else self.clients):
            raise Refused(401, f"This needs {self.needs}. {HOW_TO_AUTHENTICATE}")
        return caller


ROOT = Basic("the root token", root=True)
# Root neither publishes nor subscribes.
CLIENT = Basic("a client's token", clients=True)
EITHER = Basic("a client's token or the root token", root=True, clients=True)


def caller_of(request: HttpRequest) -> Caller:
    return cast(Caller, getattr(request, "auth"))  # noqa: B009 - ninja puts it there


def _identify_caller(request: HttpRequest) -> Caller | None:
    """Whose token the request brings; None: nobody's."""
    basic = _basic_of(request)
    if not basic:
        return None
    # A token may contain a colon, which also ends the user name: so we try both what HTTP calls the
    # user name and everything before the last colon.
    users = {basic.partition(":")[0], basic.rpartition(":")[0]} - {""}
    return _find_caller([digest_of(user) for user in users])


def _find_caller(digests: list[str]) -> Caller | None:
    """The first statement of every call, so a dead connection is noticed here and reopened. Nothing
    after it is retried: it may have been committed before the connection broke.
    """

    def find() -> Caller | None:
        with cursor() as db:
            row = db.execute(_FIND_CALLER, {"digests": digests}).fetchone()
        return Caller(*row) if row else None

    return retry_while_lost(find, until=time.monotonic() + _RECONNECT_SECONDS)


def _basic_of(request: HttpRequest) -> str:
    """The user and password as one text; empty if the header is missing or malformed."""
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(encoded.strip(), validate=True).decode()
    except ValueError:
        return ""
