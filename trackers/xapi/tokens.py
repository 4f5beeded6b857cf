"""Tokens of OAuth 2.0: for the code of a user's consent, or new ones for a refresh token.

X accepts either only once.

secrets ─> POST /2/oauth2/token ─> Tokens, or X's refusal as an XError
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from trackers.xapi.errors import Garbage, Refused, SignInAgain, XError
from trackers.xapi.keys import KEY, Secrets
from trackers.xapi.parse.problems import read_problem, shorten
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import CANONICAL, RejectedReply, Reply, Session
from trackers.xapi.wire.signing import sign_as_client

_TOKEN_URL = CANONICAL + "/2/oauth2/token"
# X calls a spent refresh token an invalid request, RFC 6749 an invalid grant.
_SPENT_TOKEN_ERRORS = {"invalid_request", "invalid_grant"}
_NOT_THE_CLIENT = {"invalid_client", "unauthorized_client"}
_LONGEST_LIFE = timedelta(days=366)
# X has 24 scopes (OpenAPI 2.167), such as "tweet.moderate.write".
_SCOPE = re.compile(r"[a-z.]{1,40}")
_MOST_SCOPES = 60


@dataclass(frozen=True, slots=True)
class Tokens:
    secrets: Secrets  # the new tokens by name
    lives: timedelta | None  # counts from the request; None if not given
    # What the user allowed; None if not given, which means no change (RFC 6749 §5.1, §6).
    scopes: tuple[str, ...] | None


def new_tokens(secrets: Mapping[str, str], *, base_url: str, timeout: timedelta) -> Tokens:
    """Ask X once; raises XError and nothing else.

    SignInAgain: the refresh token is spent or withdrawn. Refused: X does not know the client.
    After any other error the refresh token may still be good, or already spent.
    """
    return _request_tokens(secrets, _form_of(secrets), base_url=base_url, timeout=timeout)


def first_tokens(client: Secrets, grant: Secrets, *, base_url: str, timeout: timedelta) -> Tokens:
    """For a user's consent: `grant` has the code, the address it came to, and the verifier.

    Raises XError and nothing else; SignInAgain: the code is spent, too old, or another's.
    """
    named = {} if client.get("client_secret") else {"client_id": client["client_id"]}
    form = Secrets({"grant_type": "authorization_code", **grant, **named})
    return _request_tokens(Secrets({**client, **grant}), form, base_url=base_url, timeout=timeout)


def _request_tokens(
    secrets: Mapping[str, str], form: Secrets, *, base_url: str, timeout: timedelta
) -> Tokens:
    """An error's frames may be shown with their locals: what is secret is in `Secrets` here."""
    session = Session(sign_as_client(secrets), base_url=base_url, timeout=timeout)
    try:
        return _read_tokens(session.post(_TOKEN_URL, data=dict(form)).body)
    except RejectedReply as rejected:
        error = _refusal_in(rejected.reply)
    except XError as failure:
        error = failure
    finally:
        session.close()
    _hide_in(error, secrets)
    raise error.with_traceback(None) from None


def _hide_in(error: XError, secrets: Mapping[str, str]) -> None:
    """A function of its own: an error's frames may be shown with their locals."""
    basic = sign_as_client(secrets)("POST", _TOKEN_URL).removeprefix("Basic ")
    error.hide(secret for secret in (*secrets.values(), basic) if secret)


def _form_of(secrets: Mapping[str, str]) -> Secrets:
    named = {} if secrets.get("client_secret") else {"client_id": secrets["client_id"]}
    return Secrets(
        {"grant_type": "refresh_token", "refresh_token": secrets["refresh_token"], **named}
    )


def _read_tokens(body: bytes) -> Tokens:
    """The tokens of a 200. Without a new refresh token the old one stays good (RFC 6749 §6)."""
    try:
        answer = orjson.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not _is_key(answer.get("access_token")):
        raise Garbage("X's reply to a request for new tokens holds none.")
    names = ("access_token", "refresh_token")
    tokens = {name: answer[name] for name in names if _is_key(answer.get(name))}
    return Tokens(
        Secrets(tokens), _life_of(answer.get("expires_in")), _scopes_of(answer.get("scope"))
    )


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and KEY.fullmatch(value) is not None


def _life_of(seconds: Any) -> timedelta | None:
    if type(seconds) is not int or seconds <= 0:
        return None
    return timedelta(seconds=min(seconds, int(_LONGEST_LIFE.total_seconds())))


def _scopes_of(scope: Any) -> tuple[str, ...] | None:
    """Names between spaces (RFC 6749 §3.3)."""
    if not isinstance(scope, str):
        return None
    names = [name for name in scope.split() if _SCOPE.fullmatch(name)]
    return tuple(dict.fromkeys(names))[:_MOST_SCOPES] or None


def _refusal_in(reply: Reply) -> XError:
    """The error for any reply but a 200; those of RFC 6749 have their own shape."""
    problem, status = read_problem(reply.body), reply.status_code
    code, description = problem.get("error"), problem.get("error_description")
    if not isinstance(code, str):
        return error_in(reply, None)
    has_description = isinstance(description, str) and description
    line = f"{status} {shorten(f'{code}: {description}' if has_description else code)}"
    if status == 400 and code in _SPENT_TOKEN_ERRORS:
        return SignInAgain(line, status=status)
    if code in _NOT_THE_CLIENT:
        return Refused(line, status=status)
    error = error_in(reply, None)
    error.args = (line,)
    return error
