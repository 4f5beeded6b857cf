"""The strategies that build homes, and the homes that nobody reads: these are dropped, and when a
reader comes back, they are read from the sources and built again."""

from __future__ import annotations

from trackers.timelines.homes.built import Built
from trackers.timelines.homes.cache import Cache
from trackers.timelines.homes.sized import Sized
from trackers.timelines.homes.timed import Timed
from trackers.timelines.models import HomeSettings
from trackers.timelines.settings import home_settings
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count

_IDLE = """
    FROM trackers_builthome f JOIN trackers_follower w ON w.id = f.follower_id
    WHERE coalesce(w.read_at, '-infinity') < now() - %(idle)s * interval '1 day'
"""
# One at a time: a home may be a timeline of the store, and a transaction may only lock several in
# the order of their names. A home that is being built belongs to a reader who has just come back.
_NEXT = f"SELECT f.follower_id, f.strategy {_IDLE} AND f.built_at IS NOT NULL LIMIT 1"
_LEFT = f"SELECT count(*) {_IDLE} AND f.built_at IS NOT NULL"
# Feeds are locked in this order.
_BUILT_STRATEGIES: tuple[type[Built], ...] = (Cache, Sized, Timed)


def all_strategies(settings: HomeSettings) -> list[Built]:
    """The strategies by which homes may be built: that of the settings, and those from before a
    switch, whose homes get deliveries until they are dropped."""
    return [of(settings) for of in _BUILT_STRATEGIES]


def drop_idle(*, deadline: Deadline) -> PieceWork:
    """Drop the homes that nobody has read for as long as the settings say."""
    settings = home_settings()
    known = {strategy.key: strategy for strategy in all_strategies(settings)}
    params = {"idle": settings.idle_days}

    def piece() -> int | None:
        with cursor() as db:
            home = db.execute(_NEXT, params).fetchone()
        if home is None:
            return None
        follower_id, strategy = home
        known[strategy].drop(follower_id)
        return 1

    return in_pieces(
        "idle homes", piece, left=lambda: select_count(_LEFT, params), deadline=deadline
    )
