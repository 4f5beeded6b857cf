"""Sessions that are over: deleted in pieces, since Django's own command deletes all at once."""

from __future__ import annotations

from datetime import datetime

from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, in_pieces, select_count

# By Django's index on expire_date. The rows are locked first, and those that another transaction
# holds are left for the next piece.
PRUNE_SESSIONS = """
    DELETE FROM django_session WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM django_session
        WHERE expire_date < %(now)s ORDER BY expire_date LIMIT 5000
        FOR UPDATE SKIP LOCKED))
"""
# An estimate is enough when so many are left.
_COUNT_EXPIRED = """
    SELECT count(*) FROM (
        SELECT FROM django_session WHERE expire_date < %(now)s LIMIT 100000) left_over
"""


def prune_sessions(*, now: datetime, deadline: Deadline) -> PieceWork:
    params = {"now": now}

    def piece() -> int | None:
        with cursor() as db:
            return db.execute(PRUNE_SESSIONS, params).rowcount or None

    return in_pieces(
        "sessions", piece, left=lambda: select_count(_COUNT_EXPIRED, params), deadline=deadline
    )
