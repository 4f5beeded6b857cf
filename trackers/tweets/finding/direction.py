"""The direction of a walk through tweets in the order of their ids, and how far it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trackers.tweets.snowflake import LARGEST_ID


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction from an id, exclusive: down to older tweets, or up to newer ones."""

    beyond: int = LARGEST_ID
    up: bool = False

    def on_from(self, id: int) -> Direction:
        return Direction(id, self.up)

    def leads_to(self, id: int) -> bool:
        return id > self.beyond if self.up else id < self.beyond

    def in_order(self, ids: Iterable[int]) -> list[int]:
        """The ids that lie in this direction, the nearest first."""
        return sorted({id for id in ids if self.leads_to(id)}, reverse=not self.up)

    def nearest(self, ids: Sequence[int]) -> int | None:
        return (min(ids) if self.up else max(ids)) if ids else None

    def sql(self, statement: str, up: Mapping[str, str]) -> str:
        return up[statement] if self.up else statement


@dataclass(frozen=True, slots=True)
class FoundIds:
    """What was found, in that order."""

    ids: list[int]
    until: int | None  # the last id examined; None: all were
