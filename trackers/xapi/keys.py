"""What X is asked with: a credential as far as asking goes, wherever its row is kept."""

from __future__ import annotations

from typing import Any, Protocol

from trackers.xapi.secrets import Secrets

# The kinds of keys, and the versions of X's API; the choices of a stored credential.
BEARER, OAUTH1, OAUTH2 = "bearer", "oauth1", "oauth2"
V2, V1 = "v2", "v1.1"


class Keys(Protocol):
    """`pk` tells two of them apart; `kind` and `api` are of the constants above."""

    pk: Any
    kind: str
    api: str
    secrets: Secrets
