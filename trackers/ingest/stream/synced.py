"""What X has, so far, of the rules that our sources want."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from trackers.ingest.stream.listeners import Listeners, WantedRule
from trackers.ingest.stream.marks import NOBODYS, Mark
from trackers.ingest.stream.requests import NoTurnError
from trackers.xapi.errors import XError

# By then there may be room for it, or X may have changed its mind.
_ASKED_AGAIN_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Refusal:
    """X refused this text, and why."""

    value: str
    why: str
    until: float  # when to ask again, by time.monotonic()


@dataclass(slots=True)
class Synced:
    rules: dict[int, int] = field(default_factory=dict)  # by source
    # Kept so that X is not asked over and over.
    refused: dict[int, Refusal] = field(default_factory=dict)
    mark: Mark = NOBODYS
    others: int = 0  # how many rules are not ours
    trouble: XError | NoTurnError | None = None  # why some could not be requested

    def listeners(self, wanted: Mapping[int, WantedRule]) -> Listeners:
        by_rule: dict[int, list[int]] = {}
        for source, rule in self.rules.items():
            by_rule.setdefault(rule, []).append(source)
        return Listeners(wanted, by_rule, self.mark)

    def has_verdict(self, source: int) -> bool:
        return source in self.rules or source in self.refused

    def refuse(self, one: WantedRule, why: str) -> None:
        until = time.monotonic() + _ASKED_AGAIN_AFTER.total_seconds()
        self.refused[one.source] = Refusal(one.value, why, until)

    def keep_refusal(self, wanted: WantedRule, before: Synced) -> bool:
        """Whether X refused this text recently."""
        refusal = before.refused.get(wanted.source)
        if refusal is None or refusal.value != wanted.value or refusal.until <= time.monotonic():
            return False
        self.refused[wanted.source] = refusal
        return True
