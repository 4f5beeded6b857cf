"""How long a tweet took to reach half of its count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.tweets.history import EVERY_RUN
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor

_REACHED = f"""
    SELECT min(taken_at), min(taken_at) FILTER (WHERE {{metric}} >= %(half)s)
    FROM ({EVERY_RUN}) AS run WHERE tweet_id = %(id)s AND taken_at >= %(born)s
"""


@dataclass(frozen=True, slots=True)
class HalfLife:
    after: timedelta  # the age at which half was first measured
    at_most: bool  # it was the first measurement of all, so half may have been reached earlier


def half_life(id: int, born: datetime, metric: str, count: int | None) -> HalfLife | None:
    """The half-life; None while there is nothing to halve."""
    assert metric in METRICS
    if not count or count < 2:
        return None
    with cursor() as db:
        params = {"id": id, "born": born, "half": -(-count // 2)}
        row = db.execute(_REACHED.format(metric=metric), params).fetchone()
    first, reached = row or (None, None)
    return HalfLife(reached - born, reached == first) if reached else None
