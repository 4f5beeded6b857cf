"""Rate windows: per token and per app, for each endpoint, open from the first request on.

Every request counts in both; the headers tell of the tighter one. A window lasts its seconds of
world time, so a fast clock shortens it; its reset is on the wire in real seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trackers.fakex.auth import Caller

WINDOW_S = 900.0


@dataclass(frozen=True, slots=True)
class Limit:
    """Requests a window; None is no limit."""

    token: int | None
    app: int | None
    window: float = WINDOW_S


# The pay-per-use table of 2026 and, for users and v1.1, the last published one.
DEFAULTS = {
    "GET /2/tweets": Limit(token=5000, app=3500),
    "GET /2/users": Limit(token=900, app=300),
    "GET /2/users/by": Limit(token=900, app=300),
    "GET /1.1/statuses/lookup": Limit(token=900, app=300),
}


class Budget(NamedTuple):
    limit: int
    remaining: int
    reset_s: int
    refused: bool


@dataclass(slots=True)
class Window:
    ends_ms: float
    used: int = 0


class Windows:
    def __init__(self) -> None:
        self.limits: dict[str, Limit] = dict(DEFAULTS)
        self._open: dict[tuple[str, str, str], Window] = {}

    def limit(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Set limits by endpoint, e.g. {"GET /2/tweets": {"token": 15, "app": None}}."""
        for endpoint, change in changes.items():
            known = self.limits[endpoint]
            self.limits[endpoint] = Limit(
                token=change.get("token", known.token),
                app=change.get("app", known.app),
                window=float(change.get("window", known.window)),
            )

    def close_all(self) -> None:
        self._open.clear()

    def admit(
        self, caller: Caller, endpoint: str, *, now_ms: int, clock_speed: float, cost: int = 1
    ) -> Budget | None:
        """Count a request unless a window is full (`refused`); None when nothing limits it.

        With `cost=0` it only looks.
        """
        limit = self.limits[endpoint]
        budgets: list[tuple[int, Window, int]] = []
        lasts_ms = limit.window * 1000 / clock_speed
        for most, scope, who in (
            (limit.token, "token", caller.name),
            (limit.app, "app", caller.app),
        ):
            if most is not None:
                window = self._window((scope, who, endpoint), now_ms, lasts_ms)
                budgets.append((most - window.used, window, most))
        if not budgets:
            return None
        refused = cost > 0 and any(left <= 0 for left, _, _ in budgets)
        if not refused:
            for _, window, _ in budgets:
                window.used += cost
        left, window, most = min(budgets, key=lambda budget: budget[0])
        remaining = left if refused else left - cost
        return Budget(most, max(0, remaining), math.ceil(window.ends_ms / 1000), refused)

    def _window(self, key: tuple[str, str, str], now_ms: int, lasts_ms: float) -> Window:
        window = self._open.get(key)
        if window is None or window.ends_ms <= now_ms:
            window = self._open[key] = Window(now_ms + lasts_ms)
        return window
