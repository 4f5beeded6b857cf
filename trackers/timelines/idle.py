"""Drops homes that nobody reads; when a reader comes back, they are read from the sources and built
again."""

from __future__ import annotations

from trackers.timelines.homes import strategies
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


def drop_idle(*, deadline: Deadline) -> PieceWork:
    """Drop the homes that nobody has read for as long as the settings say."""
    settings = home_settings()
    known, params = strategies(settings), {"idle": settings.idle_days}

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
