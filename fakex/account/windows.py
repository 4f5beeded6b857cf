"""Rate windows per token, app and project, for each endpoint, open from the first request on.

Every request counts in all of them; the headers describe the tightest. A window lasts its seconds
in world time, so a fast clock shortens it; its reset is sent in real seconds.

Some endpoints of X have windows of 24 hours besides, of a user's token and of its app, with headers
of their own (x-api/fundamentals/rate-limits, 2026-08-22; recorded replies of 2025 and 2026). A
search of the archive has one of a second, which no header describes: its 429 comes with room left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from fakex.account.callers import Caller
from fakex.endpoints import (
    ALL_COUNTS,
    CHANGE_RULES,
    CONNECTIONS,
    COUNTS,
    CREDITS,
    END_CONNECTIONS,
    LIST,
    LIST_TWEETS,
    LOOKUP,
    ME,
    MENTIONS,
    RULE_COUNTS,
    RULES,
    SEARCH,
    SEARCH_ALL,
    STREAM,
    TOKEN,
    TWEET,
    TWEETS,
    USAGE,
    USER,
    USER_TWEETS,
    USERNAME,
    USERS,
    USERS_BY,
)

_WINDOW_S = 900.0
_DAY_S = 86_400.0
Scope = Literal["token", "app", "project"]


@dataclass(frozen=True, slots=True)
class Limit:
    """Requests per window; None is no limit."""

    token: int | None
    app: int | None
    window: float = _WINDOW_S
    project: int | None = None
    # In 24 hours; bearer tokens have only those of their app.
    user_a_day: int | None = None
    app_a_day: int | None = None
    app_a_second: int | None = None


# The pay-per-use table of 2026; for users and v1.1, the last published one.
_DEFAULTS = {
    TWEETS: Limit(token=5000, app=3500),
    USERS: Limit(token=900, app=300),
    USERS_BY: Limit(token=900, app=300),
    USERNAME: Limit(token=900, app=300),
    USER_TWEETS: Limit(token=900, app=10_000),
    MENTIONS: Limit(token=300, app=450),
    SEARCH: Limit(token=300, app=450),
    SEARCH_ALL: Limit(token=None, app=300, app_a_second=1),
    COUNTS: Limit(token=None, app=300),
    ALL_COUNTS: Limit(token=None, app=300),
    TWEET: Limit(token=900, app=450),
    USER: Limit(token=900, app=300),
    ME: Limit(token=75, app=None),
    LIST: Limit(token=75, app=75),
    LIST_TWEETS: Limit(token=900, app=900),
    STREAM: Limit(token=None, app=50),
    RULES: Limit(token=None, app=450),
    CHANGE_RULES: Limit(token=None, app=100),
    # Not in that table; as the rules themselves.
    RULE_COUNTS: Limit(token=None, app=450),
    LOOKUP: Limit(token=900, app=300),
    USAGE: Limit(token=None, app=50),
    CREDITS: Limit(token=None, app=50),
    CONNECTIONS: Limit(token=None, app=25),
    END_CONNECTIONS: Limit(token=None, app=25),
    TOKEN: Limit(token=None, app=None),
}


class Budget(NamedTuple):
    """What the headers say."""

    limit: int
    remaining: int
    reset_s: int
    full: Scope | None = None  # the innermost window without room, if any
    # By the name in their headers: the windows of 24 hours.
    days: Mapping[str, Budget] = {}


@dataclass(slots=True)
class Window:
    ends_ms: float
    used: int = 0

    def budget(self, most: int) -> Budget:
        return Budget(most, max(0, most - self.used), math.ceil(self.ends_ms / 1000))


class Windows:
    def __init__(self) -> None:
        self.limits: dict[str, Limit] = dict(_DEFAULTS)
        self._open: dict[tuple[str, str, str], Window] = {}

    def limit(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Set limits by endpoint, e.g. {"GET /2/tweets": {"token": 15, "app": None}}."""
        for endpoint, change in changes.items():
            known = self.limits[endpoint]
            self.limits[endpoint] = Limit(
                token=change.get("token", known.token),
                app=change.get("app", known.app),
                project=change.get("project", known.project),
                window=float(change.get("window", known.window)),
                user_a_day=change.get("user_a_day", known.user_a_day),
                app_a_day=change.get("app_a_day", known.app_a_day),
                app_a_second=change.get("app_a_second", known.app_a_second),
            )

    def close_all(self) -> None:
        self._open.clear()

    def admit(
        self, caller: Caller, endpoint: str, *, now_ms: int, clock_speed: float, cost: int = 1
    ) -> Budget | None:
        """Count a request unless a window is `full`; None when nothing limits it.

        With `cost=0` it only checks.
        """
        limit = self.limits[endpoint]
        budgets: list[tuple[int, Window, int]] = []
        full: Scope | None = None
        lasts_ms = limit.window * 1000 / clock_speed
        scopes: tuple[tuple[int | None, Scope, str], ...] = (
            (limit.token, "token", caller.name),
            (limit.app, "app", caller.app),
            (limit.project, "project", caller.project),
        )
        for most, scope, who in scopes:
            if most is not None:
                window = self._window((scope, who, endpoint), now_ms, lasts_ms)
                budgets.append((most - window.used, window, most))
                if window.used >= most:
                    full = full or scope
        if not budgets:
            return None
        days = self._days(caller, endpoint, limit, now_ms, _DAY_S * 1000 / clock_speed)
        full_day = next((scope for scope, (day, most) in days.items() if day.used >= most), None)
        if full_day and not full:
            full = "token" if full_day == "user" else "app"
        second = self._second(caller, endpoint, now_ms, 1000 / clock_speed)
        if second and second.used >= (limit.app_a_second or 0):
            full = full or "app"
        taken = 0 if full else cost
        for window in [
            *(window for _, window, _ in budgets),
            *(window for window, _ in days.values()),
            *((second,) if second else ()),
        ]:
            window.used += taken
        _, window, most = min(budgets, key=lambda budget: budget[0])
        told = {scope: window.budget(most) for scope, (window, most) in days.items()}
        return window.budget(most)._replace(full=full, days=told)

    def _days(
        self, caller: Caller, endpoint: str, limit: Limit, now_ms: int, lasts_ms: float
    ) -> dict[str, tuple[Window, int]]:
        scopes = (("user", caller.name, limit.user_a_day), ("app", caller.app, limit.app_a_day))
        return {
            scope: (self._window((f"{scope} a day", who, endpoint), now_ms, lasts_ms), most)
            for scope, who, most in scopes
            if most is not None and (scope == "app" or caller.kind != "bearer")
        }

    def _second(self, caller: Caller, endpoint: str, now_ms: int, lasts_ms: float) -> Window | None:
        if self.limits[endpoint].app_a_second is None:
            return None
        return self._window(("app a second", caller.app, endpoint), now_ms, lasts_ms)

    def _window(self, key: tuple[str, str, str], now_ms: int, lasts_ms: float) -> Window:
        window = self._open.get(key)
        if window is None or window.ends_ms <= now_ms:
            window = self._open[key] = Window(now_ms + lasts_ms)
        return window
