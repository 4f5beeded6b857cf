"""Secrets as plain values: an object that never shows what it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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
