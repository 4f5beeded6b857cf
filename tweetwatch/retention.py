"""Rows that are kept for a time, or for a shorter one when there are very many; and sessions, until
they are over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces, in_pieces, select_count

# The newest of the surplus rows, by the index on their times.
_FIND_SURPLUS = "SELECT at FROM {table} WHERE {which} ORDER BY at DESC OFFSET %(most)s LIMIT 1"
_PRUNE_ROWS = """
    DELETE FROM {table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM {table} WHERE {which} AND at <= %(before)s ORDER BY at LIMIT {at_once}))
"""
_COUNT_PRUNABLE = """
    SELECT count(*) FROM (
        SELECT FROM {table} WHERE {which} AND at <= %(before)s LIMIT 100000) left_over
"""


@dataclass(frozen=True, slots=True)
class Retention:
    """Some rows of a table that has the time of each in `at`."""

    table: str
    # Which rows, as a condition; there is an index on their times.
    which: str
    # What people call these rows.
    what: str
    lasts: timedelta
    # Of more than this many, the oldest go sooner.
    most: int
    # Rows that one statement deletes.
    at_once: int

    def prune(self, *, now: datetime, deadline: Deadline, most: int | None = None) -> PieceWork:
        """Those past their time, and the oldest of more than `most`."""
        before = now - self.lasts
        with cursor() as db:
            most = self.most if most is None else most
            row = db.execute(self.sql(_FIND_SURPLUS), {"most": most}).fetchone()
        return delete_in_pieces(
            self.what,
            self.sql(_PRUNE_ROWS),
            left=self.sql(_COUNT_PRUNABLE),
            params={"before": max(before, row[0]) if row else before},
            deadline=deadline,
        )

    def sql(self, statement: str) -> str:
        return statement.format(table=self.table, which=self.which, at_once=self.at_once)


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


# Addresses and browsers of logins whose session is over, or was ended.
_PRUNE_LOGINS = """
    DELETE FROM usersessions_usersession WHERE ctid = ANY(ARRAY(
        SELECT login.ctid FROM usersessions_usersession login
        WHERE NOT EXISTS (
            SELECT FROM django_session s WHERE s.session_key = login.session_key)
        LIMIT 5000 FOR UPDATE SKIP LOCKED))
"""


def prune_sessions(*, now: datetime, deadline: Deadline) -> PieceWork:
    """In pieces, since Django's own command deletes all at once."""
    params = {"now": now}

    def piece() -> int | None:
        with cursor() as db:
            expired = db.execute(PRUNE_SESSIONS, params).rowcount
            return expired + db.execute(_PRUNE_LOGINS).rowcount or None

    return in_pieces(
        "sessions", piece, left=lambda: select_count(_COUNT_EXPIRED, params), deadline=deadline
    )
