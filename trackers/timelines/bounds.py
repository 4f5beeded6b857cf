"""How long timelines get: past `upper` entries one is cut to its newest `lower`, by ids.

Between the two nothing is cut, so that a full timeline is not cut with each entry that comes.
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
            raise ValueError(f"Bounds go up from 1, and not from {self.lower} to {self.upper}.")


def bounds_of(name: str) -> Bounds:
    """Those of the first prefix in TIMELINE_BOUNDS that the name has; the last one is of all."""
    rules: Iterable[tuple[str, int, int]] = settings.TIMELINE_BOUNDS
    return next(Bounds(lower, upper) for prefix, lower, upper in rules if name.startswith(prefix))


def least_upper() -> int:
    """No timeline of fewer entries is past its bound."""
    return min(upper for _, _, upper in settings.TIMELINE_BOUNDS)
