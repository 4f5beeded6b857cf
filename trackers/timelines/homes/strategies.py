"""The strategies that build homes."""

from __future__ import annotations

from trackers.timelines.homes.built import Built
from trackers.timelines.homes.cache import Cache
from trackers.timelines.homes.sized import Sized
from trackers.timelines.homes.timed import Timed
from trackers.timelines.models import HomeSettings

# Feeds are locked in this order.
_BUILT_STRATEGIES: tuple[type[Built], ...] = (Cache, Sized, Timed)


def all_strategies(settings: HomeSettings) -> list[Built]:
    """The strategies by which homes may be built: that of the settings, and those from before a
    switch, whose homes get deliveries until they are dropped."""
    return [of(settings) for of in _BUILT_STRATEGIES]
