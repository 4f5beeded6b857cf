"""The world's authors: who they are, and when each protects the account or is suspended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fakex.world.ids import HOUR, MASK, mix
from fakex.world.texts import FIRST_NAMES, LAST_NAMES

AuthorState = Literal["live", "protected", "suspended"]
_NEVER = float("inf")
_LONGEST_NAME = 15
_EARLIEST_MS = 1167609600000  # 2007-01-01


@dataclass(frozen=True, slots=True)
class Author:
    """Times are world milliseconds since the world's start; the past is negative."""

    id: int
    username: str
    name: str
    created_ms: int
    protected_from: float = _NEVER
    protected_until: float = _NEVER
    suspended_from: float = _NEVER

    @property
    def verified(self) -> bool:
        return self.id % 5 == 0

    @property
    def troubled(self) -> bool:
        return min(self.protected_from, self.suspended_from) < _NEVER

    def state(self, elapsed_ms: float) -> AuthorState:
        if elapsed_ms >= self.suspended_from:
            return "suspended"
        if self.protected_from <= elapsed_ms < self.protected_until:
            return "protected"
        return "live"


def invent(number: int, *, seed: int, protected: float, suspended: float) -> Author:
    """Author `number`; `protected` and `suspended` are the shares ever affected."""
    draw = mix((seed * 0xD1342543DE82EF95 + number + 7) & MASK)
    fate, when = (draw & 0xFFFF) / 65536, (draw >> 16 & 0xFFFF) / 65536
    first = FIRST_NAMES[(draw >> 32) % len(FIRST_NAMES)]
    last = LAST_NAMES[(draw >> 40) % len(LAST_NAMES)]
    # Half of the fates came before the start, the others come on the first world day.
    since = -1.0 if when < 0.5 else (when - 0.5) * 48 * HOUR
    is_suspended = fate < suspended
    is_protected = suspended <= fate < suspended + protected
    return Author(
        id=10_000_000 + number * 7_919 + (draw >> 48) % 7_919,
        username=_username(f"{first}_{last}", number),
        name=f"{first} {last}",
        created_ms=_EARLIEST_MS + (draw >> 20 & 0xFFFF) * 6 * HOUR,
        suspended_from=since if is_suspended else _NEVER,
        protected_from=since if is_protected else _NEVER,
        # One protected account in four opens again, so some hidden tweets come back.
        protected_until=max(since, 0.0) + 6 * HOUR if draw >> 60 < 4 else _NEVER,
    )


def _username(name: str, number: int) -> str:
    """ASCII letters, digits and _, within X's limit of length; the number makes it unique."""
    plain = name.encode("ascii", "ignore").decode().lower()
    return f"{plain[: _LONGEST_NAME - len(str(number))]}{number}"
