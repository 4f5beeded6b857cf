"""Happenings are kept for thirty days."""

from __future__ import annotations

from datetime import datetime, timedelta

from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces

KEPT_FOR = timedelta(days=30)
# The lowest ids are the oldest, within minutes, so what is kept is hardly read.
_PRUNE = """
    DELETE FROM trackers_happening WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM (
            SELECT ctid, at FROM trackers_happening ORDER BY id LIMIT 5000
        ) first WHERE at < %(before)s))
"""
_COUNT_OLD = """
    SELECT count(*) FROM (
        SELECT at FROM trackers_happening ORDER BY id LIMIT 100000) first WHERE at < %(before)s
"""


def prune_happenings(*, now: datetime, deadline: Deadline) -> PieceWork:
    return delete_in_pieces(
        "happenings",
        _PRUNE,
        left=_COUNT_OLD,
        params={"before": now - KEPT_FOR},
        deadline=deadline,
    )
