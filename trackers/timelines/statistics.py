"""Metrics of homes and timelines, for people: how late deliveries are, how much there is, how often
pages come from what is built.

Each statement is bounded: rows are counted up to MOST, and beyond that estimated by the planner;
sizes are those of the files. None of them takes longer with more tweets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.jobs.models import MAX_STRIKES
from trackers.timelines.models import HomeReads
from tweetwatch.database import compact_sql, fetch_together
from tweetwatch.statements import statement

_MAX_COUNTED = 10_000
_STRATEGIES = ("cache", "sized", "timed")

LAG = statement(__file__, "lag", max_counted=_MAX_COUNTED, max_strikes=MAX_STRIKES)
_COUNTED = {
    "followers": "trackers_follower",
    "follows": "trackers_follow",
    "timelines": "trackers_timeline",
    "entries": "trackers_timelineentry",
}
_COUNTS = compact_sql(
    " UNION ALL ".join(
        f"""
        SELECT '{name}',
               (SELECT count(*) FROM (SELECT FROM {table} LIMIT {_MAX_COUNTED}) AS counted),
               (SELECT reltuples::bigint FROM pg_class WHERE oid = '{table}'::regclass)
        """
        for name, table in _COUNTED.items()
    )
)
_HOMES = compact_sql(f"""
    SELECT strategy.key, count(built_at), count(*) FILTER (WHERE built_at IS NULL)
    FROM unnest(%(strategies)s::text[]) AS strategy(key) CROSS JOIN LATERAL (
        SELECT built_at FROM trackers_builthome
        WHERE strategy = strategy.key LIMIT {_MAX_COUNTED}) home
    GROUP BY 1
""")
_BYTES = compact_sql("""
    SELECT pg_total_relation_size('trackers_timeline')
             + pg_total_relation_size('trackers_timelineentry'),
           pg_total_relation_size('trackers_builthome')
             + pg_total_relation_size('trackers_timedbucket')
             + pg_total_relation_size('trackers_sizedbucket')
""")


@dataclass(frozen=True, slots=True)
class Homes:
    """How many homes one strategy has built, and how many it is building."""

    built: int = 0
    building: int = 0


@dataclass(frozen=True, slots=True)
class Timelines:
    """`hit_rate`: of the pages of today and yesterday that could come from what is built, the share
    that did; None: none could.
    """

    lag_seconds: float  # the age of the arrival that has waited longest to be delivered
    behind: int  # how many sources and accounts have undelivered arrivals
    followers: int
    follows: int
    timelines: int
    entries: int
    store_bytes: int
    bucket_bytes: int
    homes: Mapping[str, Homes]
    pages: Mapping[str, int]

    @property
    def hit_rate(self) -> float | None:
        missed = sum(pages for name, pages in self.pages.items() if name.startswith("read("))
        hits = sum(pages for name, pages in self.pages.items() if not name.startswith("read"))
        return hits / (hits + missed) if hits + missed else None


def timelines(*, now: datetime) -> Timelines:
    """The current metrics, in one round trip and one more for the pages."""
    lag, counts, homes, sizes = fetch_together(
        (LAG, {}), (_COUNTS, {}), (_HOMES, {"strategies": list(_STRATEGIES)}), (_BYTES, {})
    )
    of = {
        name: counted if counted < _MAX_COUNTED else max(_MAX_COUNTED, about)
        for name, counted, about in counts
    }
    homes_by_strategy = {key: Homes(built, building) for key, built, building in homes}
    return Timelines(
        lag_seconds=lag[0][0],
        behind=lag[0][1],
        **of,
        store_bytes=sizes[0][0],
        bucket_bytes=sizes[0][1],
        homes={key: homes_by_strategy.get(key, Homes()) for key in _STRATEGIES},
        pages=_pages(now=now),
    )


def _pages(*, now: datetime) -> dict[str, int]:
    """Pages of today and yesterday, by where they came from."""
    pages_by_origin: dict[str, int] = {}
    rows = HomeReads.objects.filter(day__gte=now.date() - timedelta(days=1))
    for served_by, count in rows.values_list("served_by", "pages"):
        pages_by_origin[served_by] = pages_by_origin.get(served_by, 0) + count
    return pages_by_origin
