"""Tweets a second: measurements that were committed in a stretch of time, counted in the database.

Counted after the work has stopped, by the time that each measurement carries itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tests.benchmarks.database import Database

# Each run of equal figures that began in the window, and how often it was measured. The newest
# sample of a tweet is on its own row.
IN_WINDOW = """
    SELECT count(*), coalesce(sum(measurements), 0) FROM (
        SELECT measurements FROM trackers_sample
        WHERE measured_until >= %(begin)s AND taken_at >= %(begin)s AND taken_at < %(end)s
        UNION ALL
        SELECT measurements FROM trackers_tweet
        WHERE taken_at >= %(begin)s AND taken_at < %(end)s
    ) runs
"""
RECORDED = """
    SELECT (SELECT coalesce(sum(measurements), 0) FROM trackers_tweet)
         + (SELECT coalesce(sum(measurements), 0) FROM trackers_sample)
"""
# A closed sample was followed by another; where that has the same figures it begins after a hole.
# The closed ones of a tweet and its newest one stand side by side.
CHANGES = """
    SELECT count(*) FROM (
        SELECT lag(figures) OVER (PARTITION BY tweet_id ORDER BY taken_at) AS before, figures
        FROM (
            SELECT tweet_id, taken_at,
                   ARRAY[retweets, replies, likes, quotes, bookmarks, views] AS figures
            FROM trackers_sample
            UNION ALL
            SELECT id, taken_at,
                   ARRAY[retweets, replies, likes, quotes, bookmarks, views]
            FROM trackers_tweet WHERE measurements > 0
        ) samples
    ) pairs WHERE before <> figures
"""
TOLD = """
    SELECT (SELECT count(*) FROM trackers_event WHERE type = 'update' AND figures IS NOT NULL)
         + (SELECT coalesce(sum(cardinality(updates)), 0) FROM trackers_staged)
"""
NOW = "SELECT clock_timestamp()"


@dataclass(frozen=True, slots=True)
class Rate:
    """Of a stretch of time: how many measurements changed something, of how many."""

    changed: int
    measured: int
    seconds: float

    @property
    def a_second(self) -> float:
        return self.measured / self.seconds

    @property
    def share_changed(self) -> float:
        return self.changed / self.measured if self.measured else 0.0


def rate(database: Database, *, begin: datetime, end: datetime) -> Rate:
    changed, measured = database.sql(IN_WINDOW, {"begin": begin, "end": end})[0]
    return Rate(changed, int(measured), (end - begin).total_seconds())


def changes(database: Database) -> int:
    """How often figures of a tweet became others, between two samples next to each other."""
    return int(database.value(CHANGES))


def recorded(database: Database) -> int:
    """How many measurements the database holds."""
    return int(database.value(RECORDED))
