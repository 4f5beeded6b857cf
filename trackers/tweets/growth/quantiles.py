"""What a share of some numbers had less than. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def quantile(ordered: Sequence[float], share: float) -> float:
    """Interpolates between two values, as PostgreSQL's percentile_cont does."""
    place = (len(ordered) - 1) * share
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
