"""Homes, by the strategy that the settings name.

follows, arrivals ─> strategy: built, or nothing stored ─> page, since
All strategies return the same page; `Page.served_by` says where it came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trackers.timelines.feeds import tally
from trackers.timelines.feeds.following import follow, origin_of, unfollow
from trackers.timelines.feeds.kept import kept
from trackers.timelines.feeds.page import Embedded, Page
from trackers.timelines.feeds.protocol import FeedStrategy
from trackers.timelines.feeds.read import Read
from trackers.timelines.feeds.truth import among
from trackers.timelines.homes import Feed, FeedSettings
from trackers.timelines.settings import current
from tweetwatch.database import cursor

__all__ = [
    "Embedded", "FeedStrategy", "Page", "among", "drop", "embedded", "follow", "origin_of", "page",
    "rebuild", "since", "strategies", "strategy", "unfollow",
]  # fmt: skip

# At most once an hour, so that a home that is read all the time costs no writes.
TOUCH = """
    WITH stale AS (
        UPDATE trackers_watcher SET read_at = now()
        WHERE id = %(watcher)s AND (read_at IS NULL OR read_at < now() - interval '1 hour')
    )
    SELECT FROM trackers_watcher WHERE id = %(watcher)s
"""


def strategies(settings: FeedSettings | None = None) -> dict[str, FeedStrategy]:
    """All strategies, by their keys."""
    found: list[FeedStrategy] = [Read(), *kept(settings or current())]
    return {one.key: one for one in found}


def strategy() -> FeedStrategy:
    """The strategy that the feed settings name, read from the database with each call."""
    settings = current()
    return strategies(settings)[settings.strategy]


def page(
    watcher_id: int, *, limit: int = 50, before: int | None = None, after: int | None = None
) -> Page:
    """The tweets of the home next to an anchor, newest first; without one the newest.

    LookupError: no such watcher. ValueError: both anchors, or one that is not a tweet's id.
    """
    touch(watcher_id)
    found = strategy().page(watcher_id, limit=limit, before=before, after=after)
    tally.count(found.served_by)
    return found


def since(watcher_id: int, tweet_id: int | None = None, *, clock: str = "") -> Page:
    """What came into the home after this tweet, or after the page with this clock was read.
    Tweets among them that are older than the tweet are in `Page.late`."""
    touch(watcher_id)
    return strategy().since(watcher_id, tweet_id, clock=clock)


def embedded(watcher_id: int, ids: Sequence[int]) -> Mapping[int, Embedded]:
    """What the home stores of these tweets, as in `Page.embedded`."""
    return strategy().embedded(watcher_id, ids)


def rebuild(watcher_id: int) -> None:
    """Rebuild the home by the settings, and drop what other strategies built."""
    settings = current()
    known = strategies(settings)
    known[settings.strategy].rebuild(watcher_id)
    laid_out = Feed.objects.filter(watcher_id=watcher_id).exclude(strategy=settings.strategy)
    for key in sorted(laid_out.values_list("strategy", flat=True)):
        known[key].drop(watcher_id)


def drop(watcher_id: int) -> None:
    """Delete what is built; the next read is from the sources, and triggers a rebuild."""
    for one in kept(current()):
        one.drop(watcher_id)


def touch(watcher_id: int) -> None:
    with cursor() as db:
        if db.execute(TOUCH, {"watcher": watcher_id}).fetchone() is None:
            raise LookupError(f"There is no watcher {watcher_id}.")
