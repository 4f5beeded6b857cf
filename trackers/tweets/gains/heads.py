"""The heads of the lists of what grows fastest, four times an hour, for a day."""

from __future__ import annotations

from datetime import datetime, timedelta

from trackers.tweets.gains.models import Window
from trackers.tweets.models import METRICS
from tweetwatch.database import cursor

# Of the first so many none is missing in a list.
HEAD_LENGTH = 500
HEADS_APART = timedelta(minutes=15)
# A minute's run may come a moment early.
_EARLY = timedelta(seconds=20)
_HEADS_KEPT_FOR = timedelta(hours=25)

# A row a list. Each read ends at the LIMIT, in the order of the index. A head that was stored with
# a clock ahead holds up none.
_STORE_HEADS = """
    WITH old AS (DELETE FROM trackers_gainhead WHERE at < %(before)s)
    INSERT INTO trackers_gainhead (minutes, metric, at, ids, velocities)
    SELECT l.minutes, l.metric, %(now)s, head.ids, head.velocities
    FROM unnest(%(minutes)s::int[], %(metrics)s::text[]) AS l(minutes, metric)
    CROSS JOIN LATERAL (
        SELECT coalesce(array_agg(tweet_id ORDER BY velocity DESC, tweet_id DESC), '{}') AS ids,
               coalesce(array_agg(velocity ORDER BY velocity DESC, tweet_id DESC), '{}')
                   AS velocities
        FROM (
            SELECT tweet_id, velocity FROM trackers_gain m
            WHERE m.minutes = l.minutes AND m.metric = l.metric
            ORDER BY velocity DESC, tweet_id DESC LIMIT %(most)s) first
    ) head
    WHERE NOT EXISTS (SELECT FROM trackers_gainhead WHERE at > %(recent)s AND at <= %(now)s)
    ON CONFLICT DO NOTHING
"""


def store_heads(*, now: datetime) -> None:
    """Of all lists, unless that was done in the last quarter of an hour."""
    lists = [(int(window), metric) for window in Window for metric in METRICS]
    params = {
        "minutes": [minutes for minutes, _ in lists],
        "metrics": [metric for _, metric in lists],
        "now": now,
        "recent": now - HEADS_APART + _EARLY,
        "before": now - _HEADS_KEPT_FOR,
        "most": HEAD_LENGTH,
    }
    with cursor() as db:
        db.execute(_STORE_HEADS, params)
