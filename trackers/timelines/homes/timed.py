"""Timed buckets: a row for each span of days, by when the tweets were posted.

A tweet that comes late is in the bucket of its own day. Ids before November 2010 carry no time:
their tweets go by `created_at`, and into bucket 0, before all others, if that is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trackers.timelines.homes.built import Built, put_into
from trackers.timelines.models import TimedBucket
from trackers.tweets.snowflake import LOW_BITS, TWEPOCH_MS, ms_of
from tweetwatch.database import array, compact_sql, cursor
from tweetwatch.statements import statement

_DAY_MS = 86_400_000
# The last sequential id, without a time.
_LAST_COUNTED = 29_700_859_247

_PUT_BY_DAY = statement(
    __file__, "put_by_day", last_counted=_LAST_COUNTED, low_bits=LOW_BITS, twepoch_ms=TWEPOCH_MS
)
# Reads bucket after bucket until there are enough, and no further.
_OLDER = compact_sql("""
    SELECT one.id
    FROM trackers_timedbucket b CROSS JOIN LATERAL unnest(b.ids) WITH ORDINALITY AS one(id, nth)
    WHERE b.follower_id = %(follower)s
      AND b.bucket <= %(first)s::int AND b.bucket > %(beyond)s::int
      AND one.id < %(before)s::bigint AND one.id >= %(floor)s::bigint
    ORDER BY b.bucket DESC, one.nth LIMIT %(limit)s::int
""")
_NEWER = compact_sql("""
    SELECT one.id
    FROM trackers_timedbucket b CROSS JOIN LATERAL unnest(b.ids) WITH ORDINALITY AS one(id, nth)
    WHERE b.follower_id = %(follower)s AND b.bucket >= %(first)s::int AND b.bucket > %(beyond)s::int
      AND one.id > %(after)s::bigint
    ORDER BY b.bucket, one.nth DESC LIMIT %(limit)s::int
""")
# Buckets from before ids carried time, where a tweet's day may be unknown: all of them are read and
# sorted by id.
_ANCIENT = """
    SELECT id FROM trackers_timedbucket b CROSS JOIN LATERAL unnest(b.ids) AS id
    WHERE b.follower_id = %(follower)s AND b.bucket <= %(beyond)s::int
"""
_TAKE_FROM_DAYS = """
    UPDATE trackers_timedbucket b SET ids = kept.ids
    FROM (
        SELECT old.bucket, ARRAY(
                   SELECT one.id FROM unnest(old.ids) WITH ORDINALITY AS one(id, nth)
                   WHERE one.id NOT IN (SELECT unnest(%(ids)s::bigint[])) ORDER BY one.nth) AS ids
        FROM trackers_timedbucket old WHERE old.follower_id = %(follower)s
    ) kept
    WHERE b.follower_id = %(follower)s AND b.bucket = kept.bucket
      AND cardinality(b.ids) <> cardinality(kept.ids)
"""


class Timed(Built):
    key: ClassVar[str] = "timed"
    label: ClassVar[str] = "timed buckets"
    served_by: ClassVar[str] = "buckets"

    @property
    def depth(self) -> int:
        return self.settings.depth

    @property
    def span(self) -> int:
        return self.settings.bucket_days * _DAY_MS

    @property
    def ancient(self) -> int:
        """The last bucket that may have tweets whose ids carry no time."""
        return ms_of(_LAST_COUNTED) // self.span

    def older(self, follower_id: int, before: int, floor: int, limit: int) -> list[int]:
        params = {
            "follower": follower_id,
            "before": before,
            "floor": floor,
            "limit": limit,
            "first": ms_of(before) // self.span,
            "beyond": max(self.ancient, ms_of(floor) // self.span - 1),
        }
        with cursor() as db:
            ids = [row[0] for row in db.execute(_OLDER, params)]
        if len(ids) < limit and ms_of(floor) // self.span <= self.ancient:
            old = (id for id in self.from_ancient(follower_id) if floor <= id < before)
            ids += sorted(old, reverse=True)[: limit - len(ids)]
        return ids

    def newer(self, follower_id: int, after: int, limit: int) -> list[int]:
        ids: list[int] = []
        first = ms_of(after) // self.span
        if first <= self.ancient:
            old = (id for id in self.from_ancient(follower_id) if id > after)
            ids = sorted(old)[:limit]
        params = {
            "follower": follower_id,
            "after": after,
            "limit": limit - len(ids),
            "first": first,
            "beyond": self.ancient,
        }
        with cursor() as db:
            return ids + [row[0] for row in db.execute(_NEWER, params)]

    def from_ancient(self, follower_id: int) -> list[int]:
        with cursor() as db:
            params = {"follower": follower_id, "beyond": self.ancient}
            return [row[0] for row in db.execute(_ANCIENT, params)]

    def put(self, followers: Sequence[int], ids: Sequence[int]) -> None:
        with cursor() as db:
            db.execute(_PUT_BY_DAY, {**put_into(followers, ids), "span": self.span})

    def take(self, follower_id: int, ids: Sequence[int]) -> None:
        with cursor() as db:
            db.execute(_TAKE_FROM_DAYS, {"follower": follower_id, "ids": array(ids)})

    def held(self, follower_id: int) -> list[int]:
        rows = TimedBucket.objects.filter(follower_id=follower_id).values_list("ids", flat=True)
        return [id for ids in rows for id in ids]

    def clear(self, follower_id: int) -> None:
        TimedBucket.objects.filter(follower_id=follower_id).delete()

    def stub(self, follower_id: int) -> None:
        self.clear(follower_id)
