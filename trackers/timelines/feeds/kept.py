"""The strategies by name, and those that keep something."""

from __future__ import annotations

from trackers.timelines.feeds.built import Built
from trackers.timelines.feeds.cache import Cache
from trackers.timelines.feeds.sized import Sized
from trackers.timelines.feeds.timed import Timed
from trackers.timelines.homes import FeedSettings

# In this order feeds are locked.
LAID_OUT: tuple[type[Built], ...] = (Cache, Sized, Timed)


def kept(settings: FeedSettings) -> list[Built]:
    """Those of which homes may be laid out. Besides the one of the settings there may be others,
    from before a switch: what is delivered goes into them too, until they are dropped."""
    return [of(settings) for of in LAID_OUT]
