"""Idempotency keys are forgotten after a day, or sooner if there are many."""

from __future__ import annotations

from datetime import datetime

from trackers.bus.keys import KEPT
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, Worked, count, in_pieces

# About 300 MB of them, with their indexes.
MOST = 2_000_000

# The newest of the surplus keys, by the index on their times.
SURPLUS = "SELECT at FROM trackers_publishedkey ORDER BY at DESC OFFSET %(most)s LIMIT 1"
FORGET = """
    DELETE FROM trackers_publishedkey WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM trackers_publishedkey WHERE at <= %(before)s ORDER BY at LIMIT 20000))
"""
LEFT = """
    SELECT count(*) FROM (
        SELECT FROM trackers_publishedkey WHERE at <= %(before)s LIMIT 100000) left_over
"""


def forget_keys(*, now: datetime, deadline: Deadline, most: int = MOST) -> Worked:
    with cursor() as db:
        row = db.execute(SURPLUS, {"most": most}).fetchone()
    given = {"before": max(now - KEPT, row[0]) if row else now - KEPT}

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(FORGET, given).rowcount or None

    return in_pieces("keys", piece, left=lambda: count(LEFT, given), deadline=deadline)
