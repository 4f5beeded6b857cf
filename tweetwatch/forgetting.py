"""Rows that are kept for a time, or for a shorter one when there are very many of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline, Worked, count, in_pieces

# The newest of the surplus rows, by the index on their times.
SURPLUS = "SELECT at FROM {table} ORDER BY at DESC OFFSET %(most)s LIMIT 1"
FORGET = """
    DELETE FROM {table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM {table} WHERE at <= %(before)s ORDER BY at LIMIT {at_once}))
"""
LEFT = """
    SELECT count(*) FROM (SELECT FROM {table} WHERE at <= %(before)s LIMIT 100000) left_over
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """`table` has the time of each row in `at`, with an index, and `what` names its rows. They are
    kept for as long as `lasts`, up to `most` of them."""

    table: str
    what: str
    lasts: timedelta
    most: int
    at_once: int

    def forget(self, *, now: datetime, deadline: Deadline, most: int | None = None) -> Worked:
        """Those past their time, and the oldest of more than `most`."""
        before = now - self.lasts
        with cursor() as db:
            most = self.most if most is None else most
            row = db.execute(self.sql(SURPLUS), {"most": most}).fetchone()
        given = {"before": max(before, row[0]) if row else before}

        def piece() -> int | None:
            with cursor() as db:
                return db.execute(self.sql(FORGET), given).rowcount or None

        return in_pieces(
            self.what, piece, left=lambda: count(self.sql(LEFT), given), deadline=deadline
        )

    def sql(self, statement: str) -> str:
        return statement.format(table=self.table, at_once=self.at_once)
