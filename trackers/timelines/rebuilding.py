"""Has workers rebuild homes; until then these are read from the sources."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from trackers.jobs import queue
from trackers.timelines.models import HomeRebuild, HomeSettings
from tweetwatch.database import cursor

# The homes read most recently come first: all are due, these the longest. A rebuild under way may
# use the old settings; because of the new stamp, its end leaves the job for the next one.
_REBUILD = """
    WITH wished AS MATERIALIZED (
        SELECT id, row_number() OVER (ORDER BY read_at DESC, id) AS nth
        FROM trackers_follower WHERE read_at > now() - %(idle)s * interval '1 day'
    ),
    put AS (
        INSERT INTO {job} (key, due_at, stamp)
        SELECT id, now() - interval '1 day' + interval '1 ms' * nth, %(stamp)s + nth
        FROM wished ORDER BY id
        ON CONFLICT (key) DO UPDATE
        SET due_at = excluded.due_at, stamp = excluded.stamp, strikes = 0
        RETURNING *
    )
    {into_buckets}
"""


def rebuild_soon(followers: Iterable[int]) -> int:
    """Have these followers' homes rebuilt; return how many."""
    chosen = sorted(set(followers))
    for follower_id in chosen:
        queue.schedule(HomeRebuild.queue, follower_id, timedelta(0))
    return len(chosen)


def rebuild_all(settings: HomeSettings) -> int:
    """Have all homes that were read within `idle_days` rebuilt; return how many."""
    params = {"idle": settings.idle_days, "stamp": queue.new_stamp()}
    with cursor() as db:
        # Each home has its own bucket, so there are as many rows as homes.
        return db.execute(queue.on(HomeRebuild.queue, _REBUILD), params).rowcount
