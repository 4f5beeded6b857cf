"""Keeps the log of alerts for three months, and at most its newest 100,000 lines."""

from __future__ import annotations

from datetime import datetime, timedelta

from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces

_NOTICES_KEPT_FOR = timedelta(days=90)
_MAX_NOTICES_KEPT = 100_000

# In the order of the key, oldest first; e-mails are deleted with their notice, by their own index.
_OLD = """
    SELECT id FROM trackers_alertnotice
    WHERE at < %(before)s
       OR id <= (SELECT id FROM trackers_alertnotice ORDER BY id DESC OFFSET %(most)s LIMIT 1)
"""
_PRUNE_NOTICES = f"""
    WITH old AS MATERIALIZED ({_OLD} ORDER BY id LIMIT 2000),
    mails AS (DELETE FROM trackers_alertmail WHERE notice_id = ANY(ARRAY(SELECT id FROM old)))
    DELETE FROM trackers_alertnotice WHERE id = ANY(ARRAY(SELECT id FROM old))
"""


def prune_notices(*, now: datetime, deadline: Deadline) -> PieceWork:
    return delete_in_pieces(
        "the log of alerts",
        _PRUNE_NOTICES,
        left=f"SELECT count(*) FROM ({_OLD} LIMIT 100000) old",
        params={"before": now - _NOTICES_KEPT_FOR, "most": _MAX_NOTICES_KEPT},
        deadline=deadline,
    )
