"""A credential as requests to X need it, wherever its row is kept; its secrets as plain values that
are never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

# What a header may hold: printable ASCII without spaces.
KEY = re.compile(r"[!-~]+")


class Secrets(Mapping[str, str]):
    """Named secrets. Its repr shows only the names; pickling it is refused."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<secrets: {', '.join(self._values) or 'none'}>"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise TypeError("Secrets are not pickled: a task gets a credential's id.")


# The kinds of keys and the versions of X's API; also the choices of a stored credential's fields.
BEARER, _OAUTH1, OAUTH2 = "bearer", "oauth1", "oauth2"
V2, V1 = "v2", "v1.1"


class Keys(Protocol):
    pk: Any  # identifies the credential
    kind: str  # one of the constants above, as is `api`
    api: str
    secrets: Secrets
