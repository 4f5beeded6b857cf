"""How long timelines get: one past `upper` entries is cut to its newest `lower`, by ids.

Between the two nothing is cut, so that a full timeline is not cut at every new entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Bounds:
    lower: int
    upper: int

    def __post_init__(self) -> None:
        if not 1 <= self.lower <= self.upper:
            raise ValueError(
                f"Bounds must be 1 or more, LOWER first, not {self.lower}/{self.upper}."
            )


def bounds_of(name: str) -> Bounds:
    """The bounds of the first prefix in TIMELINE_BOUNDS that fits; the last one fits all names."""
    rules: Iterable[tuple[str, int, int]] = settings.TIMELINE_BOUNDS
    return next(Bounds(lower, upper) for prefix, lower, upper in rules if name.startswith(prefix))


def least_upper() -> int:
    """The lowest upper bound: no timeline with fewer entries can be past its own."""
    return min(upper for _, _, upper in settings.TIMELINE_BOUNDS)
