"""How far the database's log went in what somebody has seen or changed.

Whoever comes back is answered by a standby only if it has replayed the log up to there, so that
nobody sees less than before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tweetwatch.database import cursor

# Of the primary, with the WAL of all that was committed; the timeline is in the name of its file.
_PRIMARY_PLACE = """
    SELECT ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int, (lsn - '0/0'::pg_lsn)::bigint
    FROM pg_current_wal_insert_lsn() lsn
"""
_READ_PLACE = """
    SELECT timeline, lsn FROM trackers_apiuse WHERE token_id = %(token)s AND lsn IS NOT NULL
"""
# Locks: the row of the token, for this statement only.
_NOTE_PLACE = """
    INSERT INTO trackers_apiuse AS u (token_id, begun_at, used, timeline, lsn)
    VALUES (%(token)s, now(), 0, %(timeline)s, %(lsn)s)
    ON CONFLICT (token_id) DO UPDATE SET timeline = excluded.timeline, lsn = excluded.lsn
    WHERE u.lsn IS NULL OR (u.timeline, u.lsn) < (excluded.timeline, excluded.lsn)
"""


@dataclass(frozen=True, slots=True, order=True)
class LogPlace:
    """A byte of the log of one timeline."""

    timeline: int
    lsn: int

    def __str__(self) -> str:
        return f"{self.timeline}/{self.lsn:X}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """ValueError: this was not made by `str`."""
        timeline, _, lsn = text.partition("/")
        return cls(int(timeline), int(lsn, 16))


def primary_place() -> LogPlace:
    """All that is committed lies before it."""
    with cursor() as db:
        row = db.execute(_PRIMARY_PLACE).fetchone()
    assert row is not None
    return LogPlace(*row)


def place_of_token(token_id: int) -> LogPlace | None:
    with cursor() as db:
        row = db.execute(_READ_PLACE, {"token": token_id}).fetchone()
    return LogPlace(*row) if row else None


def note_place(token_id: int, place: LogPlace) -> None:
    params = {"token": token_id, "timeline": place.timeline, "lsn": place.lsn}
    with cursor() as db:
        db.execute(_NOTE_PLACE, params)
