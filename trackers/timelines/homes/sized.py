"""Sized buckets: tweets in the order in which they came, a fixed number per row.

A late tweet is in a young bucket, so a page is finished only once the remaining buckets have
nothing newer. The feed's row is locked while tweets are put in, so that none is put in twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from trackers.timelines.homes.built import Built, put_into
from trackers.timelines.models import SizedBucket
from tweetwatch.database import array, compact_sql, cursor
from tweetwatch.statements import statement

# How many buckets are read at once, beyond those that a page fills.
_EXTRA_BUCKETS = 4

_PUT_IN_BUCKETS = statement(__file__, "put_in_buckets")
# The next buckets after the last one that was read, by (max_id, n).
_YOUNGEST = compact_sql("""
    SELECT max_id, n, ids FROM trackers_sizedbucket
    WHERE follower_id = %(follower)s AND max_id <= %(upto)s::bigint AND min_id < %(before)s::bigint
      AND (max_id, n) < (%(upto)s::bigint, %(n)s::int) AND max_id >= %(floor)s::bigint
    ORDER BY max_id DESC, n DESC LIMIT %(buckets)s::int
""")
# First the buckets by their greatest ids, with enough tweets to tell how far the page may reach
# (OLDEST); then all tweets in that range (BETWEEN).
_OLDEST = compact_sql("""
    SELECT ids FROM trackers_sizedbucket
    WHERE follower_id = %(follower)s AND max_id > %(after)s::bigint
    ORDER BY max_id LIMIT %(buckets)s::int
""")
_BETWEEN = compact_sql("""
    SELECT one.id
    FROM trackers_sizedbucket b CROSS JOIN LATERAL unnest(b.ids) AS one(id)
    WHERE b.follower_id = %(follower)s AND b.max_id > %(after)s::bigint
      AND b.min_id <= %(upto)s::bigint
      AND one.id > %(after)s::bigint AND one.id <= %(upto)s::bigint
    ORDER BY one.id LIMIT %(limit)s::int
""")
_TAKE_FROM_BUCKETS = statement(__file__, "take_from_buckets")
_LAST = 2**31 - 1


class Sized(Built):
    key: ClassVar[str] = "sized"
    label: ClassVar[str] = "sized buckets"
    served_by: ClassVar[str] = "buckets"

    @property
    def depth(self) -> int:
        return self.settings.depth

    def older(self, follower_id: int, before: int, floor: int, limit: int) -> list[int]:
        candidates: set[int] = set()
        params = {"follower": follower_id, "before": before, "floor": floor}
        upto, n, buckets = 2**63 - 1, _LAST, limit // self.settings.bucket_size + _EXTRA_BUCKETS
        with cursor() as db:
            while True:
                last = {"upto": upto, "n": n, "buckets": buckets}
                rows = db.execute(_YOUNGEST, {**params, **last}).fetchall()
                candidates.update(id for *_, ids in rows for id in ids if floor <= id < before)
                nearest = sorted(candidates, reverse=True)[:limit]
                if len(rows) < buckets:
                    return nearest
                upto, n, _ = rows[-1]
                if len(nearest) == limit and nearest[-1] >= upto:
                    return nearest

    def newer(self, follower_id: int, after: int, limit: int) -> list[int]:
        buckets = limit // self.settings.bucket_size + _EXTRA_BUCKETS
        params = {"follower": follower_id, "after": after}
        with cursor() as db:
            while True:
                rows = db.execute(_OLDEST, {**params, "buckets": buckets}).fetchall()
                near = sorted({id for (ids,) in rows for id in ids if id > after})
                if len(near) >= limit or len(rows) < buckets:
                    break
                buckets *= 4
            if not near:
                return []
            upto = near[limit - 1] if len(near) >= limit else 2**63 - 1
            found = db.execute(_BETWEEN, {**params, "upto": upto, "limit": limit})
            return [row[0] for row in found]

    def put(self, followers: Sequence[int], ids: Sequence[int]) -> None:
        params = {"oldest": min(ids), "newest": max(ids), "size": self.settings.bucket_size}
        with cursor() as db:
            db.execute(_PUT_IN_BUCKETS, {**put_into(followers, ids), **params})

    def take(self, follower_id: int, ids: Sequence[int]) -> None:
        with cursor() as db:
            db.execute(_TAKE_FROM_BUCKETS, {"follower": follower_id, "ids": array(ids)})

    def held(self, follower_id: int) -> list[int]:
        rows = SizedBucket.objects.filter(follower_id=follower_id).values_list("ids", flat=True)
        return [id for ids in rows for id in ids]

    def clear(self, follower_id: int) -> None:
        SizedBucket.objects.filter(follower_id=follower_id).delete()

    def stub(self, follower_id: int) -> None:
        self.clear(follower_id)
