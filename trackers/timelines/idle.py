"""Drops homes that nobody reads; when a reader comes back, they are read from the sources and built
again."""

from __future__ import annotations

from trackers.timelines.feeds import strategies
from trackers.timelines.settings import current
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, Worked, count, in_pieces

IDLE = """
    FROM trackers_feed f JOIN trackers_watcher w ON w.id = f.watcher_id
    WHERE coalesce(w.read_at, '-infinity') < now() - %(idle)s * interval '1 day'
"""
# One at a time: a home may be a timeline of the store, and a transaction may only lock several in
# the order of their names. A home that is being built belongs to a reader who has just come back.
NEXT = f"SELECT f.watcher_id, f.strategy {IDLE} AND f.built_at IS NOT NULL LIMIT 1"
LEFT = f"SELECT count(*) {IDLE} AND f.built_at IS NOT NULL"


def drop_idle(*, deadline: Deadline) -> Worked:
    """Drop the homes that nobody has read for as long as the settings say."""
    settings = current()
    known, given = strategies(settings), {"idle": settings.idle_days}

    def piece() -> int | None:
        with cursor() as db:
            found = db.execute(NEXT, given).fetchone()
        if found is None:
            return None
        watcher_id, strategy = found
        known[strategy].drop(watcher_id)
        return 1

    return in_pieces("idle homes", piece, left=lambda: count(LEFT, given), deadline=deadline)
