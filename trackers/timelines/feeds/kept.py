"""The strategies that build homes."""

from __future__ import annotations

from trackers.timelines.feeds.built import Built
from trackers.timelines.feeds.cache import Cache
from trackers.timelines.feeds.sized import Sized
from trackers.timelines.feeds.timed import Timed
from trackers.timelines.homes import FeedSettings

# Feeds are locked in this order.
LAID_OUT: tuple[type[Built], ...] = (Cache, Sized, Timed)


def kept(settings: FeedSettings) -> list[Built]:
    """The strategies by which homes may be built: that of the settings, and those from before a
    switch, whose homes get deliveries until they are dropped."""
    return [of(settings) for of in LAID_OUT]
