"""What our rows say of the tweets of a batch, read before X is asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from tweetwatch.database import array, cursor


@dataclass(frozen=True, slots=True)
class Known:
    """A tweet's birth, whether X showed it, and the last UTC day and project that paid for it."""

    created_at: datetime | None = None
    missing_since: datetime | None = None
    gone: bool = False
    measured: bool = False
    paid_on: date | None = None
    paid_by: int | None = None


NOTHING = Known()

# ANY(ARRAY): by the primary key whatever the statistics say (see CLAIM in jobs).
KNOWN = """
    SELECT id, created_at, missing_since, gone_at IS NOT NULL, measurements > 0, paid_on, paid_by
    FROM trackers_tweet WHERE id = ANY(%(ids)s::bigint[])
"""


def known(ids: Iterable[int]) -> dict[int, Known]:
    """Of each tweet that is tracked."""
    with cursor() as db:
        return {row[0]: Known(*row[1:]) for row in db.execute(KNOWN, {"ids": array(ids)})}
