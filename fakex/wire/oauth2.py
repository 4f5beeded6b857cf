"""OAuth 2.0 users' tokens and `POST /2/oauth2/token`: each refresh replaces both tokens.

Tokens are issued for a refresh token, or for the code of a user's consent (`consent`).
A refresh token works once; a client with a secret must use HTTP Basic, a public one must send
`client_id` in the form. Access tokens expire after `expires_in` real seconds.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

import orjson

from fakex.account.callers import Caller, fingerprint, read_caller
from fakex.wire.consent import OFFLINE, Consents
from fakex.wire.replies import Reply

_EXPIRES_IN_S = 7200
_SCOPE = "users.read tweet.read list.read offline.access"


@dataclass(slots=True)
class Grant:
    """One user's consent to one client."""

    caller: Caller
    client_id: str
    client_secret: str | None
    scope: str
    access_token: str
    refresh_token: str
    expires_in: int | None  # None: it never expires, though X says 2 h
    expires_at_ms: float
    rotations: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Tokens as fingerprints, to compare with a client's."""
        return {
            **asdict(self.caller),
            "access_token": fingerprint(self.access_token),
            "refresh_token": fingerprint(self.refresh_token),
            "expires_at_ms": None if self.expires_in is None else round(self.expires_at_ms),
            "rotations": self.rotations,
        }


class Grants:
    def __init__(self) -> None:
        self._by_access: dict[str, Grant] = {}
        self._by_refresh: dict[str, Grant] = {}
        self._dead: set[str] = set()
        self.consents = Consents()

    def register(self, body: Mapping[str, Any], *, now_ms: int) -> Grant:
        expires_in = body.get("expires_in", _EXPIRES_IN_S)
        scope = body.get("scope", _SCOPE)
        grant = Grant(
            caller=_as_user(body, body["client_id"], body["refresh_token"], scope=scope),
            scope=scope,
            client_id=body["client_id"],
            client_secret=body.get("client_secret") or None,
            access_token=body["access_token"],
            refresh_token=body["refresh_token"],
            expires_in=expires_in,
            expires_at_ms=_end(expires_in, now_ms),
        )
        self._keep(grant)
        return grant

    def all(self) -> list[Grant]:
        return list(self._by_refresh.values())

    def clear(self) -> None:
        for known in (self._by_access, self._by_refresh, self._dead):
            known.clear()
        self.consents.clear()

    def knows(self, header: str) -> bool:
        """Whether the Authorization header holds an access token, valid or expired."""
        return header in self._by_access or header in self._dead

    def caller(self, header: str, *, now_ms: int) -> Caller | None:
        """Whose access token the Authorization header holds, if it is valid at that instant."""
        grant = self._by_access.get(header)
        return grant.caller if grant and now_ms < grant.expires_at_ms else None

    def holder(self, form: str, authorization: str | None) -> Caller | Reply:
        """Who gets new tokens for this form, or the refusal."""
        params = dict(parse_qsl(form))
        if params.get("grant_type") == "authorization_code":
            return self._holder_of_code(params, authorization)
        for name in ("grant_type", "refresh_token"):
            if not params.get(name):
                return _refusal(400, "invalid_request", f"Missing required parameter [{name}].")
        if params["grant_type"] != "refresh_token":
            return _refusal(400, "unsupported_grant_type", "Value of grant_type is not supported.")
        grant = self._by_refresh.get(params["refresh_token"])
        if grant is None:
            return _invalid_token()
        if grant.client_secret is None:
            known = params.get("client_id") == grant.client_id
        else:
            known = _basic(authorization) == (grant.client_id, grant.client_secret)
        if not known:
            return _refusal(401, "unauthorized_client", "Missing valid authorization header")
        return grant.caller

    def rotate(self, form: str, *, now_ms: int) -> Reply:
        """New tokens for a form that `holder` accepted; if two send one token, the first wins."""
        params = dict(parse_qsl(form))
        if params.get("grant_type") == "authorization_code":
            return self._begin(params, now_ms=now_ms)
        grant = self._by_refresh.pop(params.get("refresh_token", ""), None)
        if grant is None:
            return _invalid_token()
        old = "Bearer " + grant.access_token
        self._by_access.pop(old, None)
        self._dead.add(old)
        grant.access_token, grant.refresh_token = _new_token(), _new_token()
        grant.expires_at_ms = _end(grant.expires_in, now_ms)
        grant.rotations += 1
        self._keep(grant)
        return _tokens(grant)

    def _holder_of_code(
        self, params: Mapping[str, str], authorization: str | None
    ) -> Caller | Reply:
        for name in ("code", "redirect_uri", "code_verifier"):
            if not params.get(name):
                return _refusal(400, "invalid_request", f"Missing required parameter [{name}].")
        client = self.consents.client_of(params)
        if not client:
            return _refusal(
                400, "invalid_request", "Value passed for the authorization code was invalid."
            )
        secret = self.consents.secrets.get(client)
        if secret is None:
            known = params.get("client_id") == client
        else:
            known = _basic(authorization) == (client, secret)
        if not known:
            return _refusal(401, "unauthorized_client", "Missing valid authorization header")
        return read_caller({}, "oauth2", secret=params["code"], app=client)

    def _begin(self, params: Mapping[str, str], *, now_ms: int) -> Reply:
        """The first tokens of a consent; without offline.access there is no refresh token."""
        consent = self.consents.take(params, now_ms=now_ms)
        if consent is None:
            return _refusal(
                400, "invalid_request", "Value passed for the authorization code was invalid."
            )
        refresh = _new_token()
        grant = Grant(
            caller=_as_user({}, consent.client_id, refresh, scope=consent.scope),
            scope=consent.scope,
            client_id=consent.client_id,
            client_secret=self.consents.secrets.get(consent.client_id),
            access_token=_new_token(),
            refresh_token=refresh,
            expires_in=_EXPIRES_IN_S,
            expires_at_ms=_end(_EXPIRES_IN_S, now_ms),
        )
        self._keep(grant)
        return _tokens(grant)

    def _keep(self, grant: Grant) -> None:
        self._by_access["Bearer " + grant.access_token] = grant
        self._by_refresh[grant.refresh_token] = grant


def _as_user(body: Mapping[str, Any], client: str, secret: str, *, scope: str) -> Caller:
    caller = read_caller(body, "oauth2", secret=secret, app=client)
    return replace(caller, scopes=tuple(scope.split()))


def _tokens(grant: Grant) -> Reply:
    body = {
        "token_type": "bearer",
        "expires_in": _EXPIRES_IN_S if grant.expires_in is None else grant.expires_in,
        "access_token": grant.access_token,
        "scope": grant.scope,
    }
    if OFFLINE in grant.scope.split():
        body["refresh_token"] = grant.refresh_token
    return Reply(200, orjson.dumps(body))


def _new_token() -> str:
    return secrets.token_urlsafe(66)


def _end(expires_in: int | None, now_ms: int) -> float:
    return float("inf") if expires_in is None else now_ms + expires_in * 1000


def _basic(authorization: str | None) -> tuple[str, str] | None:
    kind, _, encoded = (authorization or "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        client_id, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return client_id, secret


def _invalid_token() -> Reply:
    return _refusal(400, "invalid_request", "Value passed for the token was invalid.")


def _refusal(status: int, error: str, description: str) -> Reply:
    return Reply(status, orjson.dumps({"error": error, "error_description": description}))
