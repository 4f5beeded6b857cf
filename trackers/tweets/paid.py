"""Record which project paid for a tweet on which UTC day, where no measurement does so."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from tweetwatch.database import array, cursor

# Locks: the tweets' rows, in the order of ids, as everywhere.
_MARK_PAID = """
    UPDATE trackers_tweet SET paid_on = %(day)s, paid_by = %(project)s
    WHERE id = ANY(ARRAY(
        SELECT id FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[]) ORDER BY id FOR UPDATE))
"""


def mark_paid(ids: Iterable[int], *, day: date, project: int) -> None:
    """Mark the tweets as paid: they cost the project nothing more on that day."""
    with cursor() as db:
        db.execute(_MARK_PAID, {"ids": array(ids), "day": day, "project": project})
