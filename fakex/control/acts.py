"""What a /_fake/ route does: takes the rest of its path, its parameters and body; gives a reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Params = Mapping[str, str]
Body = Any
Act = Callable[[str, Params, Body], Any]
