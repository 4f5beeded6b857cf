"""Who asks: a token under a name that reveals no secret, its app, and the project that pays."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

CredentialKind = Literal["bearer", "oauth1", "oauth2"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Windows and money are nested: token < app < project."""

    name: str
    app: str
    project: str
    kind: CredentialKind = "bearer"
    # The id of the account whose own posts are read at the lower price of owned posts.
    user: str = ""
    # What an OAuth 2.0 user allowed; None for tokens without scopes.
    scopes: tuple[str, ...] | None = None

    def may_ask(self, needed: Collection[str]) -> bool:
        return self.scopes is None or {*needed} <= {*self.scopes}


def fingerprint(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:8]


def read_caller(
    body: Mapping[str, Any], kind: CredentialKind, *, secret: str, app: str = ""
) -> Caller:
    """A caller as registered; if it names no app, the app is `app`, or else the token alone."""
    name = body.get("name") or fingerprint(secret)
    app = body.get("app") or (fingerprint(app) if app else name)
    return Caller(name, app, body.get("project") or app, kind, str(body.get("user_id") or ""))
