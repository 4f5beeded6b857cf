"""The places, a few minutes ago, of those that gained most: what rose and what fell since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.tweets.gains.models import GainPlaces, Window
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor

# How many places of each list are stored.
MAX_PLACES = 100
# A list is compared with places whose age is between this and twice this.
_COMPARED_AFTER = timedelta(minutes=5)
# A minute's run may come a moment early.
_EARLY = timedelta(seconds=20)

# A row per list. Each read ends at the LIMIT, in the order of the index.
_STORE_PLACES = """
    INSERT INTO trackers_gainplaces AS p (minutes, metric, at, ids)
    SELECT l.minutes, l.metric, %(now)s, ARRAY(
        SELECT tweet_id FROM trackers_gain m
        WHERE m.minutes = l.minutes AND m.metric = l.metric
        ORDER BY gain DESC, tweet_id DESC LIMIT %(most)s)
    FROM unnest(%(minutes)s::int[], %(metrics)s::text[]) AS l(minutes, metric)
    ON CONFLICT (minutes, metric) DO UPDATE SET
        before_at = p.at, before = p.ids, at = excluded.at, ids = excluded.ids
    WHERE p.at <= %(old)s
"""


@dataclass(frozen=True, slots=True)
class Places:
    """Places from 1, by tweet."""

    at: datetime  # as of then
    of: dict[int, int]


def store_places(*, now: datetime) -> None:
    lists = [(int(window), metric) for window in Window for metric in METRICS]
    params = {
        "minutes": [minutes for minutes, _ in lists],
        "metrics": [metric for _, metric in lists],
        "now": now,
        "old": now - _COMPARED_AFTER + _EARLY,
        "most": MAX_PLACES,
    }
    with cursor() as db:
        db.execute(_STORE_PLACES, params)


def places(window: Window, metric: str) -> Places | None:
    """Earlier places; None until some are old enough for a comparison."""
    row = GainPlaces.objects.filter(minutes=window, metric=metric).first()
    if row is None or row.before_at is None:
        return None
    return Places(row.before_at, {id: place for place, id in enumerate(row.before, 1)})
