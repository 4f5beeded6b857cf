"""The /_fake/connections routes: what happens to connections left idle."""

from __future__ import annotations

from typing import Any

from fakex.control.acts import Act, Body, Params
from fakex.x import X


class Idling:
    def __init__(self, x: X) -> None:
        self._x = x
        self.acts: dict[tuple[str, str], Act] = {
            ("GET", "connections"): self._show,
            ("PUT", "connections"): self._set,
            ("DELETE", "connections"): self._keep,
        }

    def _show(self, _rest: str, _query: Params, _body: Body) -> Any:
        return self._x.idleness.to_dict()

    def _set(self, rest: str, query: Params, body: Body) -> Any:
        self._x.idleness.set(body)
        return self._show(rest, query, body)

    def _keep(self, rest: str, query: Params, _body: Body) -> Any:
        return self._set(rest, query, {})
