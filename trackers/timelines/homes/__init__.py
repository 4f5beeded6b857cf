"""Homes, by the strategy that the settings name.

follows, arrivals ─> strategy: built, or nothing stored ─> page, since
All strategies return the same page; `Page.served_by` says where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trackers.timelines.homes import read_counts
from trackers.timelines.homes.following import follow, origin_of, unfollow
from trackers.timelines.homes.membership import ids_in_home
from trackers.timelines.homes.on_read import OnRead
from trackers.timelines.homes.page import Embedded, Page
from trackers.timelines.homes.protocol import HomeStrategy
from trackers.timelines.homes.strategies import all_strategies
from trackers.timelines.models import BuiltHome, HomeSettings
from trackers.timelines.settings import home_settings
from tweetwatch.database import cursor

__all__ = [
    "Embedded",
    "HomeStrategy",
    "Page",
    "drop_home",
    "embedded",
    "follow",
    "home_page",
    "home_since",
    "ids_in_home",
    "origin_of",
    "rebuild",
    "strategies",
    "strategy",
    "unfollow",
]  # fmt: skip

# At most once an hour, so that a home that is read all the time costs no writes.
_TOUCH = """
    WITH stale AS (
        UPDATE trackers_follower SET read_at = now()
        WHERE id = %(follower)s AND (read_at IS NULL OR read_at < now() - interval '1 hour')
    )
    SELECT FROM trackers_follower WHERE id = %(follower)s
"""


def strategies(settings: HomeSettings | None = None) -> dict[str, HomeStrategy]:
    """All strategies, by their keys."""
    chosen: list[HomeStrategy] = [OnRead(), *all_strategies(settings or home_settings())]
    return {one.key: one for one in chosen}


def strategy() -> HomeStrategy:
    """The strategy that the home settings name, read from the database with each call."""
    settings = home_settings()
    return strategies(settings)[settings.strategy]


def home_page(
    follower_id: int, *, limit: int = 50, before: int | None = None, after: int | None = None
) -> Page:
    """The tweets of the home next to an anchor, newest first; without one the newest.

    LookupError: no such follower. ValueError: both anchors, or one that is not a tweet's id.
    """
    _touch(follower_id)
    page = strategy().page(follower_id, limit=limit, before=before, after=after)
    read_counts.count_read(page.served_by)
    return page


def home_since(follower_id: int, tweet_id: int | None = None, *, clock: str = "") -> Page:
    """What came into the home after this tweet, or after the page with this clock was read.
    Tweets among them that are older than the tweet are in `Page.late`."""
    _touch(follower_id)
    return strategy().since(follower_id, tweet_id, clock=clock)


def embedded(follower_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
    """What the home stores of these tweets, as in `Page.embedded`."""
    return strategy().embedded(follower_id, ids)


def rebuild(follower_id: int) -> None:
    """Rebuild the home by the settings, and drop what other strategies built."""
    settings = home_settings()
    known = strategies(settings)
    known[settings.strategy].rebuild(follower_id)
    others = BuiltHome.objects.filter(follower_id=follower_id).exclude(strategy=settings.strategy)
    for key in sorted(others.values_list("strategy", flat=True)):
        known[key].drop(follower_id)


def drop_home(follower_id: int) -> None:
    """Delete what is built; the next read is from the sources, and triggers a rebuild."""
    for strategy in all_strategies(home_settings()):
        strategy.drop(follower_id)


def _touch(follower_id: int) -> None:
    with cursor() as db:
        if db.execute(_TOUCH, {"follower": follower_id}).fetchone() is None:
            raise LookupError(f"There is no follower {follower_id}.")
