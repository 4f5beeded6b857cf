"""A credential as requests to X need it, wherever its row is kept."""

from __future__ import annotations

from typing import Any, Protocol

from trackers.xapi.secrets import Secrets

# The kinds of keys and the versions of X's API; also the choices of a stored credential's fields.
BEARER, _OAUTH1, OAUTH2 = "bearer", "oauth1", "oauth2"
V2, V1 = "v2", "v1.1"


class Keys(Protocol):
    pk: Any  # identifies the credential
    kind: str  # one of the constants above, as is `api`
    api: str
    secrets: Secrets
